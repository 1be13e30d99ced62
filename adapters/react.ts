import { useCallback, useSyncExternalStore } from 'react'
import type { Readable } from 'fitting-room'

/**
 * The current value of a try-on (or of `room.visitor`, `room.photo`), kept up to date while the component is mounted.
 * Rendering starts nothing: the room's work begins with the subscription of the mounted component.
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
  return useSyncExternalStore(subscribe, get, get)
}
