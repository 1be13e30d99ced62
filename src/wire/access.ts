import * as is from '../contract/schema.ts'
import { askWithin } from '../platform/clock.ts'
import type { Clock } from '../ports.ts'
import type { Outcome } from '../rules/outcome.ts'
import { readBaseUrl } from './base-url.ts'
import type { ClientOptions } from './operations.ts'

/** Where to and with which key, as the application says anew each time. */
export interface Access {
  /** The base URL as it is now, without a trailing slash; null where none can be read. */
  baseUrl(): string | null
  /** The key as it is now; null where none can be read in time, or what is read cannot be sent. */
  key(): Promise<string | null>
  /** Takes note of what became of a request with this key. */
  learn(key: string, outcome: Outcome<unknown>): void
  /** Whether a key can be read that is another than the one that the service refused last. */
  keyChanged(): Promise<boolean>
  /** The first base URL that was read; null while none can be. */
  installation(): string | null
  /** Whether the base URL is still the first: a photo, a job and a key belong to one installation. */
  isSameInstallation(): boolean
}

/** A key that a header can carry. */
const sendableKey = is.textLike(/^[\x21-\x7e]+$/)

export function createAccess({ baseUrl, apiKey }: ClientOptions, clock: Clock, limitMs: number): Access {
  let installation: string | null = null
  let refusedKey: string | null = null

  function currentUrl(): string | null {
    const url = readBaseUrl(baseUrl)
    installation ??= url
    return url
  }

  async function currentKey(): Promise<string | null> {
    const asked = askWithin(clock, limitMs, typeof apiKey === 'function' ? apiKey : () => apiKey)
    return sendableKey.safeParse(await asked.catch(() => null)).data ?? null
  }

  return {
    baseUrl: currentUrl,
    key: currentKey,
    learn(key, outcome) {
      if (outcome.kind === 'accepted' && key === refusedKey) refusedKey = null
      if (outcome.kind !== 'accepted' && outcome.situation === 'keyRefused') refusedKey = key
    },
    async keyChanged() {
      const key = await currentKey()
      return key !== null && key !== refusedKey
    },
    installation: () => installation ?? currentUrl(),
    isSameInstallation() {
      const url = currentUrl()
      return url !== null && url === installation
    },
  }
}
