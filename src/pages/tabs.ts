import type { Written } from '../../machines/try-on.types.ts'
import type { Problem } from '../rules/problem.ts'
import type { TryOnView } from '../rules/view.ts'
import type { Intent } from '../rules/words.ts'

/** What the pages of one room tell each other; `name` is the try-on's. */
export type TabMessage =
  /** The owner shows its view. */
  | { type: 'view'; name: string; view: TryOnView }
  /** A page that waits asks for it. */
  | { type: 'hello'; name: string }
  /** A page that waits passes an intent on, with the attempt that its shopper saw. */
  | { type: 'ask'; name: string; id: string; intent: Intent; given: unknown[]; seen: string | null }
  | { type: 'answer'; name: string; id: string; problem: Problem | null; jobId: string | null }
  /** The answer to a submission, for whichever page runs the try-on by now. */
  | { type: 'lateAnswer'; name: string; written: Written }
  /** Everything of this shopper was wiped. */
  | { type: 'reset' }

/** The other pages of this room; where there is no BroadcastChannel, nobody. */
export interface Tabs {
  post(message: TabMessage): void
  listen(onMessage: (message: TabMessage) => void): void
  close(): void
}

export function openTabs(room: string): Tabs {
  if (typeof BroadcastChannel === 'undefined') return { post: () => {}, listen: () => {}, close: () => {} }
  const channel = new BroadcastChannel(room)
  // a waiting channel must not keep a process alive that has nothing else to do
  ;(channel as { unref?: () => void }).unref?.()
  return {
    post: (message) => channel.postMessage(message),
    listen: (onMessage) => void (channel.onmessage = ({ data }: MessageEvent<TabMessage>) => onMessage(data)),
    close: () => channel.close(),
  }
}
