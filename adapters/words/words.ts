import type { Intent, Problem, ProblemKind, Progress, Trouble, TryOnState, TryOnView } from 'fitting-room'

/** A text, or how it is made of what it is about. */
type Text<T> = string | ((about: T) => string)

/** What has a title: a view, or an entry of `room.history`. */
interface Titled {
  readonly state: TryOnState
  readonly problem?: Problem | null
}

/**
 * The texts of one language, for shoppers. All are required: a missing one is a compile error. None promises what is
 * not known, least of all about money.
 */
export interface Texts {
  /** A BCP 47 tag, which decides how numbers and times are written. */
  language: string
  /** What each state is called: a heading. */
  titles: Readonly<Record<TryOnState, Text<Titled>>>
  /** What each state means, in a sentence or two. */
  sentences: Readonly<Record<TryOnState, Text<TryOnView>>>
  /** What a button says. */
  intents: Readonly<Record<Intent, string>>
  /** What it says in states in which the intent means something else. */
  intentsIn: Readonly<Partial<Record<TryOnState, Readonly<Partial<Record<Intent, Text<TryOnView>>>>>>>
  /** What was wrong, and what to do about it. */
  problems: { readonly [Kind in ProblemKind]: Text<Extract<Problem, { kind: Kind }>> }
  /** What delays a try-on that continues by itself. */
  troubles: Readonly<Record<Trouble['kind'], string>>
  /** How far it has come; `percent` is written in this language. */
  progress: Readonly<Record<Progress['phase'], (percent: string) => string>>
  /** How long it takes in all, in whole seconds, as the service estimates it. */
  estimate: (seconds: number) => string
  /** When a request is made again; `time` is written in this language. */
  nextTry: (time: string) => string
  /** The button that takes a photo that was advised against. */
  despiteAdvice: string
  /** The try-on is in memory only. */
  notDurable: string
  /** The photo went as it is. */
  metadataKept: string
}

/** What a screen reader should say, and whether it may interrupt (`aria-live`). */
export interface Announcement {
  /** Empty if what was said before no longer holds and there is nothing else to say. */
  text: string
  urgency: 'polite' | 'assertive'
}

/** What a UI says to shoppers of a view. All of it is text, never markup. */
export interface Words {
  title(of: Titled): string
  /** The merchant's own message, where there is one, stands in for the state's sentence. */
  sentence(view: TryOnView): string
  /** Null if there is none, or if the sentence of that view already says it. */
  problem(problem: Problem | null, view?: TryOnView): string | null
  /** What holds it up, and until when; null while nothing does. */
  trouble(view: TryOnView): string | null
  /** Null while there is none. */
  progress(view: TryOnView): string | null
  /** The service's estimate of what is under way; null where there is none. */
  estimate(view: TryOnView): string | null
  /** The label of an intent, as that view offers it. */
  intent(intent: Intent, view?: TryOnView): string
  /** The label of the button that takes a photo that was advised against; null if it was not. */
  despiteAdvice(view: TryOnView): string | null
  /** A warning if a reload would lose the try-on; null if it would not. */
  notDurable(view: TryOnView): string | null
  /** A warning if the photo goes with metadata such as place and time; null if it does not. */
  metadataKept(view: TryOnView): string | null
  /**
   * What a screen reader should say when `before` has become `view`, or null: each state once, what went wrong, what
   * delays it, and progress no more than once a quarter.
   */
  announcementOf(view: TryOnView, before: TryOnView | null): Announcement | null
}

/** The words of one language; any text can be replaced: `createWords({ ...en, titles: … })`. Throws a `TypeError` for what is none. */
export function createWords(texts: Texts): Words {
  if (!Object(texts).titles)
    throw new TypeError("createWords() takes texts, as `en` of 'fitting-room/words/en' has them")
  const percent = new Intl.NumberFormat(texts.language, {
    style: 'percent',
    maximumFractionDigits: 0,
    // what is not done is not told to be
    roundingMode: 'floor',
  })
  const time = new Intl.DateTimeFormat(texts.language, { timeStyle: 'medium' })

  const title: Words['title'] = (of) => textOf(texts.titles[of.state], of)
  const sentence: Words['sentence'] = (view) => view.message || textOf(texts.sentences[view.state], view)

  function problem(given: Problem | null, view?: TryOnView): string | null {
    if (given === null || (view && saidBy[view.state] === given.kind)) return null
    // each text takes problems of its own kind
    return textOf(texts.problems[given.kind] as Text<Problem>, given)
  }

  function trouble({ trouble: found, waitingUntil }: TryOnView): string | null {
    if (found === null) return null
    const until = waitingUntil === null ? '' : ` ${texts.nextTry(time.format(waitingUntil))}`
    return texts.troubles[found.kind] + until
  }

  const progress: Words['progress'] = ({ progress: found }) =>
    found && texts.progress[found.phase](percent.format(found.value))

  const notDurable: Words['notDurable'] = ({ durable }) => (durable ? null : texts.notDurable)
  /** As long as what is under way would be. */
  const lostIfLeft = (view: TryOnView) => (view.state === 'processing' ? notDurable(view) : null)

  function announcementOf(view: TryOnView, before: TryOnView | null): Announcement | null {
    // an attempt gets its ID once its consent is written down
    const isOther = before?.attempt != null && before.attempt.id !== view.attempt?.id
    const isNew = before?.state !== view.state || isOther
    const wasLooking = before === null || before.state === 'restoring'
    // that nothing is there is no news; what was said of another size holds no more
    if (wasLooking && view.state === 'idle' && view.problem === null) return before && { text: '', urgency: 'polite' }
    if (isNew && view.state !== 'restoring') {
      const said = new Set([title(view), sentence(view), problem(view.problem, view), lostIfLeft(view)])
      const isUrgent = view.group === 'asks' || view.group === 'stopped'
      return {
        text: [...said].flatMap((each) => (each ? [ended(each)] : [])).join(' '),
        urgency: isUrgent ? 'assertive' : 'polite',
      }
    }
    if (before === null || isNew) return null
    const wrong = sameProblem(view, before) ? null : problem(view.problem)
    if (wrong !== null) return { text: wrong, urgency: 'assertive' }
    const heldUp = view.trouble && view.trouble.kind !== before.trouble?.kind ? texts.troubles[view.trouble.kind] : null
    const isFurther = quarterOf(view) > quarterOf(before) && view.progress?.value !== 1
    const come = isFurther ? progress(view) : null
    const lost = before.durable ? lostIfLeft(view) : null
    const text = lost ?? heldUp ?? come
    return text === null ? null : { text, urgency: 'polite' }
  }

  return {
    title,
    sentence,
    problem,
    trouble,
    progress,
    estimate: ({ etaSeconds, group }) => (etaSeconds === null || group !== 'busy' ? null : texts.estimate(etaSeconds)),
    intent(intent, view) {
      if (view === undefined) return texts.intents[intent]
      return textOf(texts.intentsIn[view.state]?.[intent] ?? texts.intents[intent], view)
    },
    despiteAdvice: ({ problem: found }) => (found?.kind === 'photoAdvice' ? texts.despiteAdvice : null),
    notDurable,
    metadataKept: ({ metadataKept }) => (metadataKept ? texts.metadataKept : null),
    announcementOf,
  }
}

const textOf = <T>(text: Text<T>, about: T) => (typeof text === 'string' ? text : text(about))

/** The problem that the sentence of a state has told. */
const saidBy: Readonly<Partial<Record<TryOnState, ProblemKind>>> = {
  needsEmail: 'emailRequired',
  stalled: 'deadline',
  unauthorized: 'key',
  failed: 'jobFailed',
  outcomeUnknown: 'outcomeUnknown',
  limitReached: 'limitReached',
  protocolError: 'protocol',
}

/** Read aloud, two texts are two only with something between them. */
const ended = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** Problems are plain values, which come anew with every record that is read. */
const sameProblem = (one: TryOnView, other: TryOnView) => JSON.stringify(one.problem) === JSON.stringify(other.problem)

/** 0 to 3, so that neither the beginning nor the end is a quarter of its own: the states say those. */
const quarterOf = ({ progress }: TryOnView) => Math.min(3, Math.floor((progress?.value ?? 0) * 4))
