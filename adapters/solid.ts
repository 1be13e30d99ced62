import { createEffect, createMemo, createSignal, onCleanup, sharedConfig, untrack, type Accessor } from 'solid-js'
import type { Readable } from 'fitting-room'

/**
 * A signal of a try-on's view (or of `room.visitor`, `room.photo`, `room.history`), kept up to date from mount until its
 * owner is disposed; given an accessor, it follows its value. On a server, and while a page is hydrated, it is the
 * readable's `initial` value and starts nothing.
 */
export function useTryOn<T>(source: Readable<T> | Accessor<Readable<T>>): Accessor<T> {
  const readable = createMemo(() => (typeof source === 'function' ? source() : source))
  const [isServed, setServed] = createSignal(typeof window === 'undefined' || Boolean(sharedConfig.context))
  const [changes, setChanges] = createSignal(0)
  const changed = () => setChanges((count) => count + 1)
  createEffect(() => {
    const followed = readable()
    const subscription = untrack(() => followed.subscribe(changed))
    onCleanup(() => subscription.unsubscribe())
    // a change between the first read and the subscription
    changed()
    setServed(false)
  })
  // read anew, not set: while a transition is pending, what it leaves is still shown
  return createMemo(() => {
    const followed = readable()
    changes()
    return isServed() && followed.initial !== undefined ? followed.initial : untrack(() => followed.get())
  })
}
