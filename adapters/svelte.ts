import { readable as svelteReadable, type Readable as SvelteStore } from 'svelte/store'
import type { Readable } from 'fitting-room'

/**
 * A try-on (or `room.visitor`, `room.photo`) as a Svelte store: `const view = useTryOn(tryOn)`, then `$view`. It
 * subscribes with its first subscriber and stops with its last.
 */
export function useTryOn<T>(readable: Readable<T>): SvelteStore<T> {
  return svelteReadable(readable.get(), (set) => {
    if (typeof window === 'undefined') return
    const subscription = readable.subscribe(set)
    // a change between the first read and the subscription
    set(readable.get())
    return () => subscription.unsubscribe()
  })
}
