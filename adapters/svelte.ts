import { createSubscriber } from 'svelte/reactivity'
import { toStore, type Readable as SvelteStore } from 'svelte/store'
import type { Readable } from 'fitting-room'

/** A value for runes, `view.current`, and a store, `$view`. */
export interface Followed<T> extends SvelteStore<T> {
  readonly current: T
}

/**
 * A try-on's view (or `room.visitor`, `room.photo`) in Svelte's ways: `const view = useTryOn(tryOn)`, then
 * `view.current`, or `$view` as a store; of a getter, `useTryOn(() => tryOn)`, it follows what that gives. It
 * subscribes with its first reader and stops with its last. On a server, and until its component is mounted, it is the
 * readable's `initial` value.
 */
export function useTryOn<T>(source: Readable<T> | (() => Readable<T>)): Followed<T> {
  const given = () => (typeof source === 'function' ? source() : source)
  const followed = new WeakMap<Readable<T>, { isHeard: boolean; follow: () => void }>()

  function follow(readable: Readable<T>) {
    const known = followed.get(readable)
    if (known) return known
    const one = {
      isHeard: false,
      follow: createSubscriber((update) => {
        const subscription = readable.subscribe(update)
        one.isHeard = true
        // a change between the first read and the subscription
        update()
        return () => {
          one.isHeard = false
          subscription.unsubscribe()
        }
      }),
    }
    followed.set(readable, one)
    return one
  }

  const current = () => {
    const readable = given()
    const one = follow(readable)
    one.follow()
    return one.isHeard || readable.initial === undefined ? readable.get() : readable.initial
  }
  const { subscribe } = toStore(current)
  return {
    subscribe,
    get current() {
      return current()
    },
  }
}
