import type { Outcome, Unusable } from '../rules/outcome.ts'
import type { Clock } from '../ports.ts'

/** How long an origin is known to take no streams, in ms: the network may lead to another server after it. */
const plainForMs = 60_000
/** How long streams are relied on: where they are taken no more, they fail before they are sent. */
const streamsForMs = 3_600_000

/**
 * In which form an origin takes the body of a POST. A browser repeats a JSON body by itself when a connection that it
 * uses again dies, and a stream never; but only some browsers send streams, and only over HTTP/2 and newer.
 */
interface BodyForm {
  /** Whether nothing has to be asked before a submission to this base URL. */
  isKnown(base: string): boolean
  streams(base: string): boolean
  /** Sends something that is safe to repeat, as a stream and if need be plainly, and learns from what comes back. */
  probe<T>(base: string, send: (streamed: boolean) => Promise<Outcome<T>>): Promise<Outcome<T>>
}

export function createBodyForm(clock: Clock, provable: boolean): BodyForm {
  let found: { base: string; streams: boolean; until: number } | null = null
  const fresh = (base: string) => (found?.base === base && clock.monotonic() < found.until ? found : null)
  const find = (base: string, streams: boolean) => {
    found = { base, streams, until: clock.monotonic() + (streams ? streamsForMs : plainForMs) }
  }
  // browsers speak HTTP/2 over TLS only, and a fetch of the application's own may do anything with a stream
  const never = (base: string) => !provable || new URL(base).protocol !== 'https:' || !sendsStreams()

  return {
    isKnown: (base) => never(base) || fresh(base) !== null,
    streams: (base) => !never(base) && (fresh(base)?.streams ?? false),
    async probe(base, send) {
      if (never(base) || fresh(base)?.streams === false) return send(false)
      const first = await send(true)
      if (first.kind === 'accepted') find(base, true)
      if (first.kind === 'accepted' || !mayBeTheForm(first)) return first
      const plain = await send(false)
      if (!isAnswered(plain)) return plain
      const again = await send(true)
      if (isAnswered(again) || isUnanswered(again)) find(base, isAnswered(again))
      return plain
    },
  }
}

/** Whether the stream may be why nothing usable came back. */
function mayBeTheForm(outcome: Unusable): boolean {
  if (outcome.kind === 'throttled' || (outcome.kind === 'rejected' && outcome.reason === 'key')) return false
  return isAnswered(outcome) || isUnanswered(outcome)
}

/** Whatever the answer says, its request has arrived. */
const isAnswered = (outcome: Outcome<unknown>) => outcome.kind === 'accepted' || outcome.answer.status !== null

const isUnanswered = (outcome: Outcome<unknown>) =>
  outcome.kind !== 'accepted' && (outcome.situation === 'lost' || outcome.situation === 'timeout')

/** Only a browser repeats requests by itself. One that can send streams reads `duplex` and takes the stream for no text. */
function sendsStreams(): boolean {
  if (typeof document === 'undefined' && typeof WorkerGlobalScope === 'undefined') return false
  let read = false
  try {
    const init = {
      method: 'POST',
      body: new ReadableStream(),
      get duplex() {
        read = true
        return 'half' as const
      },
    }
    return !new Request('https://fitting-room.invalid', init).headers.has('Content-Type') && read
  } catch {
    return false
  }
}

declare const WorkerGlobalScope: unknown

/** JSON as a stream, which can be sent once. */
export function streamOf(body: object): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(JSON.stringify(body)))
      controller.close()
    },
  })
}
