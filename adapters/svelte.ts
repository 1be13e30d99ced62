import { onMount } from 'svelte'
import { createSubscriber } from 'svelte/reactivity'
import { toStore, type Readable as Store } from 'svelte/store'
import type { Readable } from 'fitting-room'

/**
 * A try-on's view (or `room.visitor`, `room.photo`, `room.history`) as `view.current`, for runes, and as a store `$view`;
 * given a getter, it follows its value. On a server, and until the component is mounted, it is the `initial` value.
 */
export function useTryOn<T>(source: Readable<T> | (() => Readable<T>)): Store<T> & { readonly current: T } {
  const followers = new WeakMap<Readable<T>, () => void>()
  let [isMounted, update] = [false, () => {}]
  const untilMounted = createSubscriber((updated) => void (update = updated))
  const mount = () => {
    isMounted = true
    update()
  }
  try {
    onMount(mount)
  } catch {
    // outside of a component nothing is hydrated
    mount()
  }
  const read = () => {
    const readable = typeof source === 'function' ? source() : source
    if (!followers.has(readable)) followers.set(readable, followerOf(readable))
    if (isMounted) followers.get(readable)?.()
    else untilMounted()
    return isMounted || readable.initial === undefined ? readable.get() : readable.initial
  }
  return {
    subscribe: toStore(read).subscribe,
    get current() {
      return read()
    },
  }
}

const followerOf = <T>(readable: Readable<T>) =>
  createSubscriber((update) => {
    const subscription = readable.subscribe(update)
    // a change between the first read and the subscription; a store takes none while it is being set up
    queueMicrotask(update)
    return () => subscription.unsubscribe()
  })
