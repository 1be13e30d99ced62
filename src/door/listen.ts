import { openChannel } from '../pages/channel.ts'

/** What the door wants to hear of the room's other pages. */
interface Heard {
  onReset(): void
  /** Another page is at an attempt whose record has that key. */
  onAttempt(name: string): void
  /** The page was kept without running, and is shown again. */
  onShow(): void
}

/**
 * Listens, and says nothing; what is heard the core looks into. A page that is kept while it is not shown hears nothing.
 * Returns what ends it.
 */
export function listenTo(room: string, { onReset, onAttempt, onShow }: Heard): () => void {
  const ends = new AbortController()
  const { signal } = ends
  const channel = openChannel(room, (data) => {
    const { type, name, view } = Object(Object(data).message)
    if (type === 'reset') onReset()
    if (type === 'lateAnswer' || view?.attempt) onAttempt(name)
  })
  const on = (type: string, react: (event: PageTransitionEvent) => void) =>
    globalThis.addEventListener?.(type, react as EventListener, { signal })
  on('pagehide', () => channel?.close())
  on('pageshow', ({ persisted }) => persisted && onShow())
  return () => {
    ends.abort()
    channel?.close()
  }
}
