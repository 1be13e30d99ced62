import { onScopeDispose, shallowReadonly, shallowRef, type ShallowRef } from 'vue'
import type { Readable } from 'fitting-room'

/**
 * A ref of a try-on's view (or of `room.visitor`, `room.photo`), kept up to date until its scope ends. On a server it
 * holds the first view and starts nothing.
 */
export function useTryOn<T>(readable: Readable<T>): Readonly<ShallowRef<T>> {
  const value = shallowRef(readable.get())
  if (typeof window !== 'undefined') {
    const subscription = readable.subscribe((next) => (value.value = next))
    // a change between the first read and the subscription
    value.value = readable.get()
    onScopeDispose(() => subscription.unsubscribe())
  }
  return shallowReadonly(value)
}
