import type { TryOnState } from '../../src/rules/words.ts'
import type { InspectEvent } from '../../src/try-on/try-on.types.ts'
import type { InspectedRequest } from '../../src/wire/operations.ts'

/** A step of a try-on: what came in, and where it stands since then. */
interface Step {
  type: string
  states: string
}

/** A try-on that this page runs, or has run. */
export interface Followed {
  product: string
  steps: readonly Step[]
  /** What its view shows. */
  state: TryOnState
  /** When it goes on by itself, in epoch ms; null where it waits for no time. */
  nextAt: number | null
}

/** What a room has told since its page was loaded, the last of it. */
export interface Log {
  followed(): readonly Followed[]
  /** The newest first. */
  requests(): readonly InspectedRequest[]
  heard(event: InspectEvent): void
  requested(request: InspectedRequest): void
  subscribe(onChange: () => void): () => void
}

const mostSteps = 30
/** How many steps a round has at the most that is shown once, as a look at a job with its answer. */
const longestRound = 4
const mostRequests = 50

export function createLog(): Log {
  const known = new Map<string, Followed>()
  const listeners = new Set<() => void>()
  let requests: readonly InspectedRequest[] = []
  const changed = () => listeners.forEach((listener) => listener())
  return {
    followed: () => [...known.values()],
    requests: () => requests,
    heard({ type, states, state, nextAt, productId, variantId }) {
      const product = `${productId} / ${variantId}`
      const steps = known.get(product)?.steps ?? []
      known.set(product, { product, state, nextAt, steps: onward(steps, { type, states: states.join(' + ') }) })
      changed()
    },
    requested(request) {
      requests = [request, ...requests].slice(0, mostRequests)
      changed()
    },
    subscribe(onChange) {
      listeners.add(onChange)
      return () => void listeners.delete(onChange)
    },
  }
}

/** What only goes round leads back to where the round began. */
function onward(steps: readonly Step[], step: Step): readonly Step[] {
  const ago = steps
    .slice(-longestRound)
    .reverse()
    .findIndex(({ type, states }) => type === step.type && states === step.states)
  return ago < 0 ? [...steps, step].slice(-mostSteps) : steps.slice(0, steps.length - ago)
}
