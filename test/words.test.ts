import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Problem, TryOnView } from 'fitting-room'
import { problems, viewOf, views } from 'fitting-room/testing'
import { createWords, type Announcement, type Texts, type Words } from 'fitting-room/words'
import { de } from 'fitting-room/words/de'
import { en } from 'fitting-room/words/en'
import { es } from 'fitting-room/words/es'
import { fr } from 'fitting-room/words/fr'
import { intents } from '../src/rules/words.ts'
import { createWorld, person, product } from './support/world.ts'

const languages: Record<string, Texts> = { en, de, fr, es }
const unknown = { ...problems.protocol, operation: 'getGeneration', status: 404 } as const
const everyView: TryOnView[] = [
  ...Object.values(views).filter(({ message }) => message === null),
  { ...views.limitReached, message: '' },
  viewOf('unauthorized', { attempt: views.stalled.attempt! }),
  viewOf('protocolError', { attempt: views.stalled.attempt!, problem: unknown }),
  viewOf('stalled', { attempt: null, problem: { kind: 'core', reload: false } }),
  viewOf('stalled', { attempt: { ...views.stalled.attempt!, jobId: null } }),
]
const everyProblem: Problem[] = [
  ...Object.values(problems),
  ...(['missing', 'empty', 'type', 'unreadable', 'url'] as const).map((reason) => ({ kind: 'photo' as const, reason })),
  ...(['aborted', 'startedOver', 'unanswered', 'closed'] as const).map((reason) => ({
    kind: 'stopped' as const,
    reason,
  })),
  { ...problems.refused, status: 404 },
  { ...problems.refused, operation: 'registerCustomer' },
  { ...problems.refused, operation: 'putPhoto', status: 415 },
  { kind: 'input', at: 'customKey' },
  { kind: 'internal', sent: true },
]

/** Every text that there is. */
const allOf = (words: Words) => [
  ...everyView.flatMap((view) => [words.title(view), words.sentence(view)]),
  ...everyProblem.flatMap((problem) => words.problem(problem) ?? []),
  ...intents.flatMap((intent) => everyView.map((view) => words.intent(intent, view))),
]

describe.each(Object.entries(languages))('the words in %s', (name, texts) => {
  const words = createWords(texts)

  it('say something of every state, problem and intent, in whole sentences and without anything internal', () => {
    for (const text of allOf(words)) {
      expect(text).toMatch(/^\p{Lu}.*[\p{L}.…]$/u)
      expect(text).not.toMatch(/undefined|null|\bjob\b|POST|\d{3}|[{}<>_]/)
    }
  })

  it('are in one language', () => {
    const others = Object.entries(languages).filter(([other]) => other !== name)
    const theirs = new Set(others.flatMap(([, other]) => allOf(createWords(other))))
    expect(allOf(words).filter((text) => theirs.has(text))).toEqual([])
  })

  it('speak of the photo where the upload target could not use it', () => {
    const refused: Problem = { ...problems.refused, operation: 'putPhoto', status: 415 }
    expect(words.problem(refused)).toBe(words.problem({ kind: 'photo', reason: 'type' }))
  })

  it('do not call a try-on slow whose code was not loaded', () => {
    const missing = words.title(viewOf('stalled', { attempt: null, problem: { kind: 'core', reload: false } }))
    const entry = { state: 'stalled' as const }
    expect([words.title(views.stalled), missing]).toEqual([
      words.title(entry),
      expect.not.stringMatching(words.title(entry)),
    ])
  })

  it('write numbers and times as that language does', () => {
    const percent = new Intl.NumberFormat(name, { style: 'percent' }).format(0.4)
    expect(words.progress(views.preparing)).toContain(percent)
    expect(words.estimate(views.processing)).toContain('40')
    const over = [views.final, views.failed, views.stalled].map((view) => ({ ...view, etaSeconds: 40 }))
    expect(over.map((view) => words.estimate(view))).toEqual([null, null, null])
    const trouble = { kind: 'offline' as const, since: 0, nextTryAt: 5_000 }
    const waits = viewOf('processing', { trouble, waitingUntil: Date.UTC(2026, 10, 1, 12, 30) })
    expect(words.trouble(waits)).toMatch(/30/)
    expect([words.trouble(views.processing), words.progress(views.idle), words.estimate(views.idle)]).toEqual([
      null,
      null,
      null,
    ])
  })

  it('tell the shopper that another try-on may be spent, wherever that is so, and not where nothing was sent', () => {
    const mayCost = /(another|one more) try-on|weitere|essayage de plus|otra prueba/
    // what has ended is known to be over; all else that has a job goes on without another word
    const known = everyView.filter(({ can, attempt, group }) => can.retry && attempt?.jobId && group !== 'done')
    const open = [...known.filter(({ state }) => state !== 'failed'), views.outcomeUnknown, views.protocolError]
    expect(open.map(({ state }) => state)).toEqual(expect.arrayContaining(['stalled', 'unauthorized']))
    for (const view of open) expect(words.sentence(view)).toMatch(mayCost)
    const unsent = viewOf('unauthorized', { attempt: { ...views.unauthorized.attempt, jobId: null } })
    expect(words.sentence(unsent)).not.toMatch(mayCost)
    const misread = { ...problems.protocol, operation: 'getFunnel' } as const
    const before = viewOf('protocolError', { attempt: { ...unsent.attempt, jobId: null }, problem: misread })
    expect(words.sentence(before)).not.toMatch(mayCost)
    expect(words.intent('retry', views.final)).toMatch(mayCost)
    expect(words.problem({ kind: 'internal', sent: true })).toMatch(mayCost)
    expect(words.problem({ kind: 'internal', sent: false })).not.toMatch(mayCost)
    expect(words.problem(problems.consentExpired)).not.toMatch(mayCost)
  })
})

describe('words', () => {
  it('of a problem are not said again where the sentence of the state has said them', () => {
    const words = createWords(en)
    const said = everyView.flatMap((view) =>
      words.problem(view.problem) ? [[view.state, words.problem(view.problem, view)]] : [],
    )
    expect(said.filter(([, text]) => text !== null).map(([state]) => state)).toEqual(['rejected', 'stalled'])
    expect(words.problem(problems.photo, views.failed)).toBe(words.problem(problems.photo))
    expect(words.announcementOf(views.failed, views.processing)?.text).not.toContain(en.problems.jobFailed)
  })

  it('of a finished try-on promise no picture that cannot be shown', () => {
    const words = createWords(en)
    const dead = viewOf('final', { problem: problems.picture })
    expect(words.sentence(dead)).not.toMatch(/ready/)
    expect(words.sentence(views.final)).toMatch(/ready/)
  })

  it('of a merchant stand in for those of the state, and a page may replace any', () => {
    const words = createWords({ ...en, titles: { ...en.titles, final: 'Ta-da!' } })
    expect([words.title(views.final), words.title(views.failed)]).toEqual(['Ta-da!', en.titles.failed])
    expect(words.sentence(views.limitReached)).toBe('Come back tomorrow!')
    expect(words.sentence({ ...views.limitReached, message: '' })).toBe(en.sentences.limitReached)
  })

  it('are made of texts, and not of the module that has them', () => {
    expect(() => createWords({ en } as unknown as Texts)).toThrow('as `en` of')
  })

  it('of an intent are those of the state that offers it', () => {
    const { intent } = createWords(en)
    expect(intent('resume')).toBe('Go on')
    expect(intent('resume', views.stalled)).toBe('Keep waiting')
    const unsent = viewOf('stalled', { attempt: null, problem: problems.consentExpired })
    expect(intent('resume', unsent)).toBe('Send it now')
    expect(intent('startOver', views.needsEmail)).toBe('No, thanks')
    // where something is missing nobody knows yet what there is, and nothing is sent for it
    const unloaded = viewOf('stalled', { attempt: null, problem: { kind: 'core', reload: false } })
    expect(intent('resume', unloaded)).toBe('Try again')
  })

  it.each(Object.values(languages))('do not call done what is not, nor let go of what would be lost', (texts) => {
    const { progress, sentence } = createWords(texts)
    const almost = { phase: 'generation' as const, value: 0.9967, exact: false, bytes: null }
    expect(progress(viewOf('processing', { progress: almost }))).toMatch(/99\s?%/)
    const [kept, unkept] = [true, false].map((durable) => sentence(viewOf('processing', { durable })))
    expect([kept!.startsWith(unkept!), unkept!.length < kept!.length]).toEqual([true, true])
    const [waits, waitsHere] = [true, false].map((durable) => sentence(viewOf('unauthorized', { durable })))
    expect(waits).not.toBe(waitsHere)
  })

  it('say where a reload would lose the try-on', () => {
    const { notDurable } = createWords(en)
    expect([notDurable(views.final), notDurable(viewOf('final', { durable: false }))]).toEqual([null, en.notDurable])
  })
})

it.each(Object.entries(languages))(
  '%s has a label against advice, and calls an address that is none the shop’s own fault',
  (_, texts) => {
    const { despiteAdvice, problem } = createWords(texts)
    expect(despiteAdvice(views.idle)).toBeNull()
    expect(despiteAdvice(viewOf('idle', { problem: problems.photoAdvice }))).toBe(texts.despiteAdvice)
    // it is the shop's to mend, and not the shopper's
    expect(problem({ kind: 'input', at: 'baseUrl' })).toBe(problem(problems.key))
    const others = [problem({ kind: 'input', at: 'name' }), problem({ kind: 'input', at: 'customerEmail' })]
    expect(others).not.toContain(problem({ kind: 'input', at: 'consent.notice' }))
  },
)

it.each(Object.values(languages))(
  '$language says of a job that the service has not that it is gone, and that another one can cost',
  (texts) => {
    const { title, sentence } = createWords(texts)
    const unknown = { ...problems.protocol, operation: 'getGeneration', status: 404 } as const
    const gone = viewOf('protocolError', { attempt: views.stalled.attempt!, problem: unknown })
    expect(title(gone)).not.toBe(title(views.protocolError))
    expect(sentence(gone)).not.toBe(sentence(views.protocolError))
    expect(sentence(gone).split('. ').at(-1)).toBe(sentence(views.protocolError).split('. ').at(-1))
  },
)

describe('an announcement', () => {
  const { announcementOf } = createWords(en)
  const hear = (seen: readonly TryOnView[]) =>
    seen.flatMap((view, at) => announcementOf(view, seen[at - 1] ?? null) ?? [])

  it('is made of each state once, and of what the shopper has to do at once', () => {
    const heard = hear([
      views.restoring,
      views.idle,
      views.preparing,
      views.preparing,
      views.needsEmail,
      views.submitting,
    ])
    const urgencies = heard.flatMap(({ text, urgency }) => (text === '' ? [] : [urgency]))
    expect(urgencies).toEqual(['polite', 'assertive', 'polite'])
    expect(heard[2]?.text).toBe(`${String(en.titles.needsEmail)}. ${String(en.sentences.needsEmail)}`)
  })

  it('is not made of what a page finds when it is opened, where that is nothing', () => {
    expect(hear([views.restoring])).toEqual([])
    expect(announcementOf(views.idle, null)).toBeNull()
    // what was heard of another size is taken back
    expect(hear([views.restoring, views.idle])).toEqual([{ text: '', urgency: 'polite' }])
    const unread = viewOf('idle', { problem: problems.storageUnreadable })
    expect(announcementOf(unread, views.restoring)?.text).toContain(en.problems.storageUnreadable)
    const again = announcementOf(views.idle, views.final)
    expect(again?.text).toContain(en.titles.idle)
    expect(announcementOf(views.final, null)?.text).toContain(en.titles.final)
  })

  it('says that the page must stay open, once for a try-on that is nowhere else', () => {
    const unkept = viewOf('processing', { durable: false })
    const about = (seen: TryOnView[]) => hear(seen).filter(({ text }) => text.includes(en.notDurable)).length
    expect([about([views.submitting, unkept, { ...unkept }]), about([views.processing, unkept])]).toEqual([1, 1])
  })

  it('says what was wrong with an input, once for each time', () => {
    const refused = viewOf('needsEmail', { problem: { ...problems.refused, operation: 'registerCustomer' } })
    const heard = hear([
      views.needsEmail,
      refused,
      { ...refused, problem: { ...refused.problem! } },
      views.needsEmail,
      refused,
    ])
    expect(heard.slice(1)).toEqual(
      [1, 2].map(() => ({ text: 'This address was not accepted. Please check it.', urgency: 'assertive' })),
    )
  })

  it('says what holds a try-on up, and nothing twice that title and problem say alike', () => {
    const trouble = { kind: 'offline' as const, since: 0, nextTryAt: 1 }
    const held = viewOf('processing', { trouble })
    const heard = hear([views.processing, held, viewOf('processing', { trouble: { ...trouble, nextTryAt: 2 } })])
    expect(heard.slice(1)).toEqual([{ text: en.troubles.offline, urgency: 'polite' }])
    const [limit] = hear([{ ...views.limitReached, message: '' }])
    expect(limit?.text.match(/You have reached/g)).toHaveLength(1)
  })

  it('is made of progress at each quarter, however finely that comes', () => {
    const progress = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(progress, (values) => {
        const rising = [0, ...values.sort((a, b) => a - b)].map((value) =>
          viewOf('processing', { progress: { phase: 'generation', value, exact: false, bytes: null } }),
        )
        expect(hear([views.submitting, ...rising]).slice(1).length).toBeLessThanOrEqual(1 + 3)
      }),
    )
  })

  it('follows a whole try-on of a real room', async () => {
    const world = createWorld()
    const tryOn = world.room().tryOn(product)
    const heard: Announcement[] = []
    let before = tryOn.get()
    tryOn.subscribe((view) => {
      heard.push(...[announcementOf(view, before) ?? []].flat())
      before = view
    })
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    await world.close()
    const titles = (['preparing', 'submitting', 'processing', 'preview', 'final'] as const).map((state) =>
      createWords(en).title({ state }),
    )
    const spoken = heard.map(({ text }) => text)
    for (const title of titles) expect(spoken.filter((text) => text.startsWith(title))).toHaveLength(1)
    expect(spoken.length).toBeLessThanOrEqual(titles.length + 6)
    expect(spoken).not.toContainEqual(expect.stringContaining('100%'))
  })
})
