'use client'

import { useCallback, useSyncExternalStore } from 'react'
import type { Readable } from 'fitting-room'

/**
 * The current value of a try-on (or of `room.visitor`, `room.photo`, `room.history`), kept up to date while the component
 * is mounted. Rendering starts nothing: the room's work begins with the subscription of the mounted component. On a
 * server, and while a page is hydrated, it is the readable's `initial` value.
 */
export function useTryOn<T>(readable: Readable<T>): T {
  const subscribe = useCallback(
    (onChange: () => void) => {
      const subscription = readable.subscribe(onChange)
      return () => subscription.unsubscribe()
    },
    [readable],
  )
  const get = () => readable.get()
  const first = () => (readable.initial === undefined ? readable.get() : readable.initial)
  return useSyncExternalStore(subscribe, get, first)
}
