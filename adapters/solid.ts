import { createComputed, createSignal, onCleanup, onMount, sharedConfig, type Accessor } from 'solid-js'
import type { Readable } from 'fitting-room'

/**
 * A signal of a try-on's view (or of `room.visitor`, `room.photo`, `room.history`), kept up to date from mount until its
 * owner is disposed; of an accessor it follows what that gives. On a server, and while a page is hydrated, it is the
 * readable's `initial` value and starts nothing.
 */
export function useTryOn<T>(source: Readable<T> | Accessor<Readable<T>>): Accessor<T> {
  const given = () => (typeof source === 'function' ? source() : source)
  const first = given()
  const isServed = typeof window === 'undefined' || Boolean(sharedConfig.context)
  const [value, setValue] = createSignal<T>(isServed && first.initial !== undefined ? first.initial : first.get())
  const [isMounted, setMounted] = createSignal(false)
  onMount(() => setMounted(true))
  createComputed(() => {
    const readable = given()
    if (!isMounted()) return
    const subscription = readable.subscribe((next) => setValue(() => next))
    onCleanup(() => subscription.unsubscribe())
    // a change between the first read and the subscription
    setValue(() => readable.get())
  })
  return value
}
