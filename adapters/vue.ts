import {
  getCurrentInstance,
  onActivated,
  onDeactivated,
  onMounted,
  ref,
  shallowReadonly,
  shallowRef,
  toValue,
  watch,
  type MaybeRefOrGetter,
  type ShallowRef,
} from 'vue'
import type { Readable } from 'fitting-room'

/**
 * A ref of a try-on's view (or of `room.visitor`, `room.photo`, `room.history`), kept up to date until its scope ends
 * and while its component is shown (`<KeepAlive>`); given a ref or a getter, it follows the current one. On a server,
 * and during hydration until the component is mounted, it holds the `initial` value and starts nothing.
 */
export function useTryOn<T>(source: MaybeRefOrGetter<Readable<T>>): Readonly<ShallowRef<T>> {
  const first = toValue(source)
  const isServer = typeof window === 'undefined'
  const component = getCurrentInstance()
  const isServed = isServer || Boolean(component?.vnode.el)
  const value = shallowRef(isServed && first.initial !== undefined ? first.initial : first.get()) as ShallowRef<T>
  if (isServer) return shallowReadonly(value)
  const isShown = ref(!isServed)
  if (component) {
    onMounted(() => (isShown.value = true))
    onActivated(() => (isShown.value = true))
    onDeactivated(() => (isShown.value = false))
  }
  watch(
    () => (isShown.value ? toValue(source) : null),
    (readable, _, onCleanup) => {
      const subscription = readable?.subscribe((next) => (value.value = next))
      onCleanup(() => subscription?.unsubscribe())
      // a change between the first read and the subscription
      if (readable) value.value = readable.get()
    },
    { immediate: true, flush: 'sync' },
  )
  return shallowReadonly(value)
}
