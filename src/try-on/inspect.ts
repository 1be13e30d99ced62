import type { InspectionEvent, StateValue } from 'xstate'
import { guarded } from '../platform/guarded.ts'
import type { Inspect } from './try-on.types.ts'

/** Tells a listener of the application what XState's inspection says of a try-on's machine, in words of our own. */
export function inspection(listener: Inspect, product: { productId: string; variantId: string }) {
  const tell = guarded(listener)
  return (event: InspectionEvent): void => {
    if (event.type !== '@xstate.snapshot' || event.actorRef.sessionId !== event.rootId) return
    if (!('value' in event.snapshot)) return
    const { productId, variantId } = product
    const states = leaves(event.snapshot.value as StateValue)
    tell({ type: event.event.type.replace(/^xstate\.(\w+).*/, '$1'), states, productId, variantId })
  }
}

const leaves = (value: StateValue): string[] =>
  typeof value === 'string'
    ? [value]
    : Object.entries(value).flatMap(([state, within]) =>
        within === undefined ? [state] : leaves(within).map((leaf) => `${state}.${leaf}`),
      )
