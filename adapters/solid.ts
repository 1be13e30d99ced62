import { createSignal, onCleanup, onMount, type Accessor } from 'solid-js'
import type { Readable } from 'fitting-room'

/**
 * A signal of a try-on's view (or of `room.visitor`, `room.photo`), kept up to date from mount until its owner is
 * disposed. On a server nothing mounts, so nothing starts.
 */
export function useTryOn<T>(readable: Readable<T>): Accessor<T> {
  const [value, setValue] = createSignal<T>(readable.get())
  onMount(() => {
    const subscription = readable.subscribe((next) => setValue(() => next))
    // a change between the first read and the subscription
    setValue(() => readable.get())
    onCleanup(() => subscription.unsubscribe())
  })
  return value
}
