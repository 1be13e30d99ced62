import type { RoomOptions } from '../../src/options.ts'
import { withinLimit } from '../../src/platform/clock.ts'
import type { Clock } from '../../src/ports.ts'

/** How long the database may take to say whether a consent stands, in ms: less than a key may take, which is told as none. */
const standsMs = 5_000

/** The key for what is asked for on behalf of one consent. */
export interface GuardedKey {
  apiKey(): Promise<string>
  /** Aborts once the consent is found to stand no more. */
  over: AbortSignal
  /** What keeps the database from saying whether it stands; null where nothing does. */
  failure(): unknown
}

/** A key that is there only while a consent stands: a room asks for it before every request, whoever slept meanwhile. */
export function keyWhile(
  stands: () => Promise<boolean>,
  clock: Clock,
  apiKey: NonNullable<RoomOptions['apiKey']>,
): GuardedKey {
  const over = new AbortController()
  let failure: unknown = null
  return {
    over: over.signal,
    failure: () => failure,
    async apiKey() {
      const isStanding = await withinLimit(clock, standsMs, stands()).catch((error: unknown) => {
        failure = error
        throw error
      })
      failure = null
      if (isStanding) return typeof apiKey === 'function' ? apiKey() : apiKey
      over.abort()
      // that there is no key would be untrue
      return new Promise<never>(() => {})
    },
  }
}
