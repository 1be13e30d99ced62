import type { Readable } from '../ports.ts'
import { guarded } from './guarded.ts'

/** A value that others watch. */
export interface Value<T> extends Readable<T> {
  /** Replaces it unless the two are equal as JSON; says whether they were not. */
  set(next: T): boolean
  isWatched(): boolean
}

export function createValue<T>(first: T): Value<T> {
  let current = first
  const listeners = new Set<(value: T) => void>()
  return {
    initial: first,
    get: () => current,
    set(next) {
      if (JSON.stringify(next) === JSON.stringify(current)) return false
      current = next
      // a listener may set another value, or end a subscription
      for (const listener of new Set(listeners)) if (current === next && listeners.has(listener)) listener(next)
      return true
    },
    subscribe(onChange) {
      const listener = guarded(onChange)
      listeners.add(listener)
      return { unsubscribe: () => void listeners.delete(listener) }
    },
    isWatched: () => listeners.size > 0,
  }
}
