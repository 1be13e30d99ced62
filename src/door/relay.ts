import { createValue } from '../platform/value.ts'
import type { Readable } from '../ports.ts'

/** Something that can be watched before what it follows is there. */
interface Relay<T> extends Readable<T> {
  readonly initial: T
  set(value: T): void
  isWatched(): boolean
  /** Follows that from now on. */
  follow(source: Readable<T>): void
}

/** `isShown` says which values of what it follows are shown; until one is, the last value stands. */
export function createRelay<T>(initial: T, isShown: (value: T) => boolean = () => true): Relay<T> {
  const shown = createValue(initial)
  let source: Readable<T> | null = null
  let following: { unsubscribe(): void } | null = null

  function sync(): void {
    const value = source?.get()
    if (value !== undefined && isShown(value)) shown.set(value)
  }

  function listen(): void {
    if (source && shown.isWatched()) following ??= source.subscribe(sync)
    sync()
  }

  return {
    initial,
    set: shown.set,
    isWatched: shown.isWatched,
    get() {
      sync()
      return shown.get()
    },
    subscribe(onChange) {
      const subscription = shown.subscribe(onChange)
      // the core's try-on sits down again for whoever comes, which close() had got up
      const before = following
      following = null
      listen()
      before?.unsubscribe()
      return {
        unsubscribe() {
          subscription.unsubscribe()
          if (shown.isWatched()) return
          following?.unsubscribe()
          following = null
        },
      }
    },
    follow(next) {
      source = next
      listen()
    },
  }
}
