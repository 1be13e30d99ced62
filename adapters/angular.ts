import { afterNextRender, computed, effect, signal, untracked, type Signal } from '@angular/core'
import type { Readable } from 'fitting-room'

/**
 * A signal of a try-on's view (or of `room.visitor`, `room.photo`, `room.history`), kept up to date for as long as the
 * injection context in which it is called; given a signal or a function, it follows the current one. On a server, and
 * until the page has been rendered for the first time, it is the readable's `initial` value and starts nothing.
 */
export function useTryOn<T>(source: Readable<T> | (() => Readable<T>)): Signal<T> {
  const readable = computed(() => (typeof source === 'function' ? source() : source))
  const isRendered = signal(false)
  const changes = signal(0)
  const changed = () => changes.update((count) => count + 1)
  afterNextRender(() => isRendered.set(true))
  effect((onCleanup) => {
    const followed = readable()
    if (!isRendered()) return
    untracked(() => {
      const subscription = followed.subscribe(changed)
      onCleanup(() => subscription.unsubscribe())
      // a change between the first read and the subscription
      changed()
    })
  })
  return computed(() => {
    const followed = readable()
    changes()
    return isRendered() || followed.initial === undefined ? untracked(() => followed.get()) : followed.initial
  })
}
