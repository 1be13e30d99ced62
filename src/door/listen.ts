import { messageVersion, openChannel } from '../pages/channel.ts'

/** What the door wants to hear of the room's other pages. */
interface Heard {
  /** With how often their storage was reset, as they say. */
  onReset(epochs: unknown): void
  /** Another page is at an attempt whose record has that key. */
  onAttempt(name: string): void
  /** The page was kept without running, and is shown again. */
  onShow(): void
}

/** An ear to the room's other pages. */
interface Listening {
  /** Whether they can be heard, and could be ever since. */
  hears(): boolean
  end(): void
}

/** Listens, and says nothing; what is heard the core looks into. A page that is kept while it is not shown hears nothing. */
export function listenTo(room: string, { onReset, onAttempt, onShow }: Heard): Listening {
  const ends = new AbortController()
  const { signal } = ends
  const channel = openChannel(room, (data) => {
    const { version, epochs, message } = Object(data)
    const { type, name, view } = Object(version === messageVersion && message)
    if (type === 'reset') onReset(epochs)
    if (type === 'lateAnswer' || view?.attempt) onAttempt(name)
  })
  const on = (type: string, react: (event: PageTransitionEvent) => void) =>
    globalThis.addEventListener?.(type, react as EventListener, { signal })
  let hears = channel !== null
  on('pagehide', () => {
    hears = false
    channel?.close()
  })
  on('pageshow', ({ persisted }) => persisted && onShow())
  return {
    hears: () => hears,
    end() {
      hears = false
      ends.abort()
      channel?.close()
    },
  }
}
