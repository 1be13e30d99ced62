import { assert, asyncProperty, array, constantFrom, nat, oneof, record, constant } from 'fast-check'
import { expect, it, vi } from 'vitest'
import { createActor, fromPromise as xstatePromise } from 'xstate'
import { Private } from '../machines/private.ts'
import { requestMachine as requestTable } from '../machines/request.machine.ts'
import { createRunner } from '../machines/runner.ts'
import { fromPromise } from '../machines/setup.ts'
import { tryOnMachine as tryOnTable } from '../machines/try-on.machine.ts'
import type { TryOnEvent, TryOnInput } from '../machines/try-on.types.ts'
import { requestMachine, tryOnMachine } from '../machines/xstate.ts'
import { generationStarted } from '../src/contract/resources.ts'
import { steadyClock } from '../src/platform/clock.ts'
import { outcomeOf } from '../src/rules/outcome.ts'
import type { Phase } from '../src/rules/phases.ts'
import { advance, type AttemptRecord } from '../src/rules/record.ts'
import { manualClock } from 'fitting-room/testing'
import { consentedAt } from './support/consented.ts'

/** What a machine has begun, and waits for. */
interface Begun {
  src: string
  signal: AbortSignal
  resolve(output: unknown): void
  reject(error: unknown): void
}

const simple = ['restore', 'consent', 'writeStop', 'writeRegistration', 'renew', 'probe', 'claim', 'submit', 'poll', 'keyChanged', 'leave', 'discard'] as const // prettier-ignore
const requests = ['lookUpFunnel', 'uploadPhoto', 'askVisitor', 'register'] as const

/** XState says first which guard it was. */
const reasonOf = (error: unknown) => (error as Error).message.split('\n').at(-1)

/** The same machine twice: as the library runs it, and as XState does. */
function sideOf(isOurs: boolean, askVisitorFirst: boolean) {
  const platform = manualClock()
  const clock = steadyClock(platform)
  const begun: Begun[] = []
  const waiting =
    (src: string) =>
    ({ signal }: { signal: AbortSignal }) =>
      new Promise<unknown>((resolve, reject) => void begun.push({ src, signal, resolve, reject }))
  const promise = (src: string) => (isOurs ? fromPromise : xstatePromise)(waiting(src) as never)
  const request = (src: string) =>
    (isOurs ? requestTable : requestMachine).provide({ actors: { send: promise(src) } } as never)
  const actors = Object.fromEntries([
    ...simple.map((src) => [src, promise(src)]),
    ...requests.map((src) => [src, request(src)]),
  ])
  const input: TryOnInput = {
    clock,
    nextLookMs: () => 2_000,
    deadlineMs: 180_000,
    askVisitorFirst,
    exclusive: true,
    archived: false,
  }
  const ours = createRunner(tryOnTable.provide({ actors }), { input, clock })
  const theirs = createActor(tryOnMachine.provide({ actors }), { input, clock })
  const machine = isOurs ? ours : theirs
  let notices = 0
  let failed: unknown = null
  machine.subscribe({ next: () => void notices++, error: (error) => void (failed = reasonOf(error)) })
  machine.start()
  return {
    platform,
    begun,
    send: (event: TryOnEvent) => machine.send(event),
    /** All that can be seen of it. */
    seen() {
      const snapshot = machine.getSnapshot()
      const { status, value, context } = snapshot
      // an actor of XState shows its error, ours the last that stood
      if (status === 'error') return { status, failed }
      const { clock: _clock, ...told } = context
      const can = events.map((event) => snapshot.can(event))
      const works = begun.map(({ src, signal }) => `${src} ${signal.aborted}`)
      return { status, value, told: JSON.stringify(told), can, busy: snapshot.hasTag('busy'), works, notices }
    },
  }
}

const now = manualClock().now()
const base = consentedAt(now)
const funnel = { id: 12, funnelType: 'upper_body', generationModel: 'SERVICE_FAST' } as const
const job = { jobId: '00000000-0000-4000-8000-000000000001', etaSeconds: 40, acceptedAt: now }
const prepared: AttemptRecord = { ...base, funnel, photo: { id: 'photo', imageUrl: 'https://api.test/p' } }
const phases: Phase[] = ['consented', 'claimed', 'throttled', 'awaitingEmail', 'emailRegistered', 'unauthorized', 'limitReached', 'rejected', 'protocolError', 'accepted', 'preview', 'final', 'failed'] // prettier-ignore
const records = phases.flatMap((phase) => {
  const hasJob = ['accepted', 'preview', 'final', 'failed'].includes(phase)
  const wait = phase === 'throttled' ? { until: now + 3_000, waitMs: 3_000 } : {}
  return [base, prepared].map((of) => advance(of, now, { phase, ...wait, ...(hasJob && { job }) }))
})
const written = [
  ...records.map((each) => ({ kind: 'stands', record: each, durable: true })),
  { kind: 'none', durable: true },
  { kind: 'none', durable: false, problem: { kind: 'storageUnreadable' } },
  { kind: 'overtaken' },
]
const answer = (status: number, body: object, retryAfter: string | null = null) =>
  outcomeOf('createGeneration', { came: 'answer', status, body, retryAfter }, generationStarted)
const outcomes = [
  { kind: 'accepted', data: funnel },
  { kind: 'accepted', data: prepared.photo },
  { kind: 'accepted', data: { requestsLeft: 0 } },
  answer(429, { error: 'Rate limit exceeded' }, '3'),
  answer(500, {}),
  answer(401, { error: 'Unauthorized' }),
  answer(400, { error: 'no' }),
  outcomeOf('getFunnel', { came: 'notSent', why: 'offline' }, generationStarted),
]
const polled = outcomes.flatMap((outcome) => written.slice(-8).map((each) => ({ ...each, outcome })))
/** What an actor may come to; now and then what it never would. */
const outputs = [...written, ...outcomes, ...polled, true, false]
const fitting = (src: string): readonly unknown[] => {
  if (src === 'keyChanged') return [true, false]
  if (src === 'poll') return polled
  return (requests as readonly string[]).includes(src) ? outcomes : written
}

const consent = { attemptId: 'other', photoId: 'photo' }
const events: TryOnEvent[] = [
  { type: 'start', consent },
  { type: 'retry', consent },
  { type: 'submitEmail', form: new Private({ email: 'ada@example.com' }) },
  { type: 'resume' },
  { type: 'startOver' },
  { type: 'discard', abandonPaidJob: false },
  { type: 'discard', abandonPaidJob: true },
  { type: 'wake' },
  { type: 'refused', problem: { kind: 'paidJob' } },
  { type: 'uploaded', progress: { sent: 1, total: 2 } },
  { type: 'lateAnswer', written: written[18] as never },
  { type: 'lateAnswer', written: written[2] as never },
]

const operation = oneof(
  { weight: 4, arbitrary: record({ what: constant('settle' as const), which: nat(3), how: nat(10_000) }) },
  { weight: 3, arbitrary: record({ what: constant('say' as const), event: constantFrom(...events) }) },
  { weight: 2, arbitrary: constant({ what: 'time' as const }) },
  { weight: 1, arbitrary: record({ what: constant('strange' as const), which: nat(3), how: nat(10_000) }) },
  { weight: 1, arbitrary: record({ what: constant('break' as const), which: nat(3) }) },
)

/** Until what was begun has been told, some promises later. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await Promise.resolve()
}

it('runs the machine of a try-on as XState runs it, whatever comes', async () => {
  // both wait for as long
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  let steps = 0
  const states = new Set<string>()
  await assert(
    asyncProperty(
      array(operation, { minLength: 4, maxLength: 40 }),
      constantFrom(true, false),
      async (operations, first) => {
        const [ours, theirs] = [sideOf(true, first), sideOf(false, first)]
        const both = [ours, theirs]
        await quiet()
        expect(ours.seen()).toEqual(theirs.seen())
        for (const done of operations) {
          for (const side of both) {
            if (done.what === 'say') side.send(done.event)
            else if (done.what === 'time') side.platform.advanceToNext()
            else {
              const open = side.begun.filter(({ signal }) => !signal.aborted)
              const one = open.at(-1 - (done.which % Math.max(1, open.length)))
              if (!one) continue
              if (done.what === 'break') one.reject(new Error('broken'))
              else {
                const list = done.what === 'strange' ? outputs : fitting(one.src)
                one.resolve(list[done.how % list.length])
              }
            }
          }
          await quiet()
          steps++
          const seen = ours.seen()
          expect(seen).toEqual(theirs.seen())
          if ('value' in seen) states.add(JSON.stringify(seen.value))
          if (seen.status === 'error') break
        }
      },
    ),
    { numRuns: 1_500, seed: 20261122 },
  )
  console.log(`the runner and XState were alike after ${steps} events, in ${states.size} states`)
  expect(steps).toBeGreaterThan(15_000)
  expect(states.size).toBeGreaterThan(30)
})
