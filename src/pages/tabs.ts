import { funnel, jobSuccess } from '../contract/resources.ts'
import * as is from '../contract/schema.ts'
import { isFormer, type Counts } from '../rules/counts.ts'
import { problem } from '../rules/problem.ts'
import { attemptRecord } from '../rules/record.ts'
import type { TryOnView } from '../rules/view.ts'
import { intents, tryOnStates, type Intent } from '../rules/words.ts'
import { messageVersion, openChannel } from './channel.ts'

/** What a page asks for on its shopper's behalf: an intent with what was given to it. */
export type PassedCall = { intent: Intent } & Readonly<Record<string, unknown>>

/**
 * What the pages of one room tell each other; `name` is the try-on's, `place` where its pages wait for each other: who runs
 * it at one place answers nobody at another.
 */
export type TabMessage = is.TypeOf<typeof message>

/** The other pages of this room; where there is no BroadcastChannel, nobody. */
export interface Tabs {
  post(message: TabMessage): void
  close(): void
}

interface TabsParts {
  /** What the rooms have in common that may hear each other: origin, installation and namespace. */
  name: string
  /** What tells this room's storage from every other, each with how often it was reset. */
  epochs: () => Counts
  /** Whether a message with these epochs is of this storage and of its present shopper. */
  isOfNow: (epochs: Counts) => boolean
  /** Looks whether storage has another ID by now. */
  lookAgain: () => Promise<unknown>
  onMessage: (message: TabMessage) => void
  onReset: (epochs: Counts) => void
}

const name = is.text
const place = is.text
const pictured = is.nullable(jobSuccess)
const amount = is.nullable(is.number)
const view = is.object({
  state: is.oneOf(...tryOnStates),
  group: is.text,
  attempt: is.nullable(is.object({ id: is.text, jobId: is.nullable(is.text), startedAt: is.number })),
  funnel: is.nullable(funnel),
  etaSeconds: amount,
  progress: is.nullable(is.object({ phase: is.oneOf('upload', 'generation'), value: is.number, exact: is.boolean })),
  preview: pictured,
  result: pictured,
  message: is.nullable(is.text),
  problem: is.nullable(problem),
  trouble: is.nullable(is.object({ kind: is.text, since: is.number, nextTryAt: is.number })),
  waitingUntil: amount,
  durable: is.boolean,
  metadataKept: is.boolean,
  exclusive: is.boolean,
  can: is.object(Object.fromEntries(intents.map((intent) => [intent, is.boolean]))),
})

function isView(value: unknown): value is TryOnView {
  const read = view.safeParse(value).data
  if (read === undefined) return false
  return read.state === 'final' ? read.result !== null : read.state !== 'preview' || read.preview !== null
}

const message = is.toldApart(
  'type',
  // the owner shows its view
  is.object({ type: is.oneOf('view'), name, place, view: is.that<TryOnView>(isView) }),
  // a page that waits asks for it, and says which attempt it has seen
  is.object({ type: is.oneOf('hello'), name, place, seenAttempt: is.nullable(is.text) }),
  // a page that waits has an intent to pass on
  is.object({ type: is.oneOf('knock'), name, place, id: is.text }),
  // the owner would carry it out, which may take a while; `by` names its seat
  is.object({ type: is.oneOf('come'), name, place, id: is.text, turn: is.text, by: is.text }),
  // it is passed on in the turn that the owner has named, with the attempt that its shopper saw, and the one that the word
  // before it has begun
  is.object({
    type: is.oneOf('ask'),
    name,
    place,
    id: is.text,
    turn: is.text,
    call: is.wholeOf<PassedCall>(is.object({ intent: is.oneOf(...intents) })),
    seenAttempt: is.nullable(is.text),
    ownAttempt: is.optional(is.text),
  }),
  is.object({
    type: is.oneOf('answer'),
    name,
    id: is.text,
    problem: is.nullable(problem),
    jobId: is.nullable(is.text),
  }),
  // what the answer to a submission has led to, for whichever page runs the try-on by now
  is.object({ type: is.oneOf('lateAnswer'), name, record: attemptRecord, durable: is.boolean }),
  // `reset`: everything of this shopper is being wiped; `counts`: nothing but what every message says, how often storage was reset
  is.object({ type: is.oneOf('reset', 'counts') }),
)
const envelope = is.object({ version: is.oneOf(messageVersion), epochs: is.tableOf(is.integer), message })

export function openTabs(parts: TabsParts): Tabs {
  const { epochs, isOfNow, lookAgain, onMessage, onReset } = parts
  /** What is heard meanwhile waits, so that it is heard in order. */
  let looking: Promise<unknown> | null = null
  let isOpen = true

  async function hear(data: unknown): Promise<void> {
    const read = envelope.safeParse(data)
    if (!read.success) return
    const { epochs: theirs, message: heard } = read.data
    // whose storage was reset the catalog itself knows best
    if (heard.type === 'reset') return isOpen ? onReset(theirs) : undefined
    // this page may not know yet what storage has come to be called, and could not read it the last time
    if (!Object.keys(theirs).some((id) => id in epochs())) looking ??= lookAgain().finally(() => (looking = null))
    await looking
    if (!isOpen) return
    if (isOfNow(theirs)) return onMessage(heard)
    // who was away over a reset may not be able to read of it; to all others it is no news
    if (isFormer(theirs, epochs())) post({ type: 'counts' })
  }

  const post = (sent: TabMessage) => channel?.postMessage({ version: messageVersion, epochs: epochs(), message: sent })

  const channel = openChannel(parts.name, (data) => void hear(data))
  return {
    post,
    close() {
      isOpen = false
      channel?.close()
    },
  }
}
