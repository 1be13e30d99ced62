import type { Funnel } from '../contract/resources.ts'
import type { Clock } from '../ports.ts'
import type { Outcome } from '../rules/outcome.ts'
import type { Client } from '../wire/operations.ts'
import type { Errands } from './errands.ts'

/** How long a funnel is taken for what it was, in ms. */
const freshForMs = 3_600_000

/** The funnels that the room was told of: each is asked for once. */
export interface Funnels {
  find(funnelIds: readonly number[], turn: string): Promise<Outcome<Funnel>>
  /** The service does not know what it has told before. */
  forget(): void
}

/** What was told of them, by their IDs, until when that holds, in ms of the monotonic clock. */
export type KnownFunnels = Map<string, { outcome: Outcome<Funnel>; until: number }>

export function createFunnels(
  client: Client,
  clock: Clock,
  errands: Errands,
  found: KnownFunnels = new Map(),
): Funnels {
  return {
    async find(funnelIds, turn) {
      const name = funnelIds.join()
      const known = found.get(name)
      if (known && clock.monotonic() < known.until) return known.outcome
      return errands.run(`funnel ${name}`, async (signal) => {
        const outcome = await client.getFunnel(funnelIds, { signal, turn })
        if (outcome.kind === 'accepted') found.set(name, { outcome, until: clock.monotonic() + freshForMs })
        return outcome
      })
    },
    forget: () => found.clear(),
  }
}
