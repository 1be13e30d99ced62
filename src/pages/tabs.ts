import * as z from 'zod/mini'
import { funnel, jobSuccess } from '../contract/resources.ts'
import { problem, type Problem } from '../rules/problem.ts'
import { attemptRecord, type AttemptRecord } from '../rules/record.ts'
import type { TryOnView } from '../rules/view.ts'
import { intents, tryOnStates, type Intent } from '../rules/words.ts'

/** What a page asks for on its shopper's behalf: an intent with what was given to it. */
export type PassedCall = { intent: Intent } & Readonly<Record<string, unknown>>

/** What the pages of one room tell each other; `name` is the try-on's. */
export type TabMessage =
  /** The owner shows its view. */
  | { type: 'view'; name: string; view: TryOnView }
  /** A page that waits asks for it. */
  | { type: 'hello'; name: string }
  /** A page that waits passes an intent on, with the attempt that its shopper saw. */
  | { type: 'ask'; name: string; id: string; call: PassedCall; seenAttempt: string | null }
  | { type: 'answer'; name: string; id: string; problem: Problem | null; jobId: string | null }
  /** What the answer to a submission has led to, for whichever page runs the try-on by now. */
  | { type: 'lateAnswer'; name: string; record: AttemptRecord; durable: boolean }
  /** Everything of this shopper is being wiped. */
  | { type: 'reset' }

/** The other pages of this room; where there is no BroadcastChannel, nobody. */
export interface Tabs {
  post(message: TabMessage): void
  close(): void
}

/** How often each storage was reset, by its ID. */
export type Epochs = Readonly<Record<string, number>>

export interface TabsParts {
  /** What the rooms have in common that may hear each other: origin, installation and namespace. */
  name: string
  /** What tells this room's storage from every other, each with how often it was reset. */
  epochs: () => Epochs
  /** Whether a message with these epochs is of this storage and of its present shopper. */
  isOfNow: (epochs: Epochs) => boolean
  /** Looks whether storage has another ID by now. */
  lookAgain: () => Promise<unknown>
  onMessage: (message: TabMessage) => void
  onReset: (epochs: Epochs) => void
}

const name = z.string()
const pictured = z.nullable(jobSuccess)
const amount = z.nullable(z.number())
const view = z.looseObject({
  state: z.enum(tryOnStates),
  attempt: z.nullable(z.object({ id: z.string(), jobId: z.nullable(z.string()), startedAt: z.number() })),
  funnel: z.nullable(funnel),
  etaSeconds: amount,
  progress: z.nullable(
    z.looseObject({ phase: z.enum(['upload', 'generation']), value: z.number(), exact: z.boolean() }),
  ),
  preview: pictured,
  result: pictured,
  message: z.nullable(z.string()),
  problem: z.nullable(problem),
  trouble: z.nullable(z.looseObject({ kind: z.string(), since: z.number(), nextTryAt: z.number() })),
  waitingUntil: amount,
  durable: z.boolean(),
  exclusive: z.boolean(),
  can: z.record(z.enum(intents), z.boolean()),
})
const isView = (value: unknown): value is TryOnView => view.safeParse(value).success

const message = z.discriminatedUnion('type', [
  z.object({ type: z.literal('view'), name, view: z.custom<TryOnView>(isView) }),
  z.object({ type: z.literal('hello'), name }),
  z.object({
    type: z.literal('ask'),
    name,
    id: z.string(),
    call: z.looseObject({ intent: z.enum(intents) }),
    seenAttempt: z.nullable(z.string()),
  }),
  z.object({
    type: z.literal('answer'),
    name,
    id: z.string(),
    problem: z.nullable(problem),
    jobId: z.nullable(z.string()),
  }),
  z.object({ type: z.literal('lateAnswer'), name, record: attemptRecord, durable: z.boolean() }),
  z.object({ type: z.literal('reset') }),
])
const envelope = z.object({ version: z.literal(1), epochs: z.record(z.string(), z.number()), message })

const nobody: Tabs = { post: () => {}, close: () => {} }

export function openTabs(parts: TabsParts): Tabs {
  const { epochs, isOfNow, lookAgain, onMessage, onReset } = parts
  if (typeof BroadcastChannel === 'undefined') return nobody
  const channel = new BroadcastChannel(parts.name)
  const unknown = new Set<string>()
  let isOpen = true

  async function hear(data: unknown): Promise<void> {
    const read = envelope.safeParse(data)
    if (!read.success) return
    const { epochs: theirs, message: heard } = read.data
    // whose storage was reset the catalog itself knows best
    if (heard.type === 'reset') return isOpen ? onReset(theirs) : undefined
    const ids = Object.keys(theirs)
    if (!ids.some((id) => id in epochs()) && ids.some((id) => !unknown.has(id))) {
      // this page may not know yet what storage has come to be called
      for (const id of ids) unknown.add(id)
      await lookAgain()
    }
    if (isOpen && isOfNow(theirs)) onMessage(heard)
  }

  channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => void hear(data))
  // a waiting channel must not keep a process alive that has nothing else to do
  ;(channel as { unref?: () => void }).unref?.()
  return {
    post: (sent) => channel.postMessage({ version: 1, epochs: epochs(), message: sent }),
    close() {
      isOpen = false
      channel.close()
    },
  }
}
