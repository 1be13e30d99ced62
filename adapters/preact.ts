import { useLayoutEffect, useState } from 'preact/hooks'
import type { Readable } from 'fitting-room'

/**
 * The current value of a try-on (or of `room.visitor`, `room.photo`, `room.history`), kept up to date while the component
 * is mounted. On a server it is the readable's `initial` value, and so it is in a component's first render, which may
 * hydrate what a server has rendered; nobody sees that one.
 */
export function useTryOn<T>(readable: Readable<T>): T {
  const [isMounted, render] = useState<object | null>(null)
  useLayoutEffect(() => {
    const subscription = readable.subscribe(() => render({}))
    // what was rendered is older than the subscription
    render({})
    return () => subscription.unsubscribe()
  }, [readable])
  return isMounted === null && readable.initial !== undefined ? readable.initial : readable.get()
}
