import { Activity, createElement, StrictMode, Suspense, use } from 'react'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'
import { expect, it } from 'vitest'
import { createApp, defineComponent, h, KeepAlive, nextTick, ref } from 'vue'
import { useTryOn } from 'fitting-room/react'
import { useTryOn as useVue } from 'fitting-room/vue'
import { deferred } from '../../src/platform/deferred.ts'
import { counted } from './bindings.suite.ts'

it('react leaves a try-on that is hidden, and shows what there is when it is shown again', async () => {
  const { readable, listeners, set } = counted()
  const place = document.body.appendChild(document.createElement('div'))
  const View = () => createElement('p', null, useTryOn(readable))
  const root = createRoot(place)
  const show = (mode: 'visible' | 'hidden') =>
    flushSync(() =>
      root.render(createElement(StrictMode, null, createElement(Activity, { mode, children: createElement(View) }))),
    )
  show('visible')
  await expect.poll(() => listeners.size).toBe(1)
  show('hidden')
  await expect.poll(() => listeners.size).toBe(0)
  set(5)
  show('visible')
  await expect.poll(() => place.textContent).toBe('5')
  root.unmount()
  expect(listeners.size).toBe(0)
})

it('react follows a try-on beside what suspends, and shows what there is once that has come', async () => {
  const { readable, listeners, set } = counted()
  const place = document.body.appendChild(document.createElement('div'))
  const { promise, resolve } = deferred<string>()
  const Beside = () => createElement('i', null, use(promise))
  const View = () => createElement('p', null, useTryOn(readable))
  const root = createRoot(place)
  flushSync(() =>
    root.render(
      createElement(
        StrictMode,
        null,
        createElement(Suspense, { fallback: 'waits' }, createElement(View), createElement(Beside)),
      ),
    ),
  )
  expect(place.textContent).toBe('waits')
  set(5)
  resolve('beside')
  await expect.poll(() => place.textContent).toBe('5beside')
  set(6)
  await expect.poll(() => place.textContent).toBe('6beside')
  root.unmount()
  expect(listeners.size).toBe(0)
})

it('vue leaves a try-on that is kept and not shown, and shows what there is when it is shown again', async () => {
  const { readable, listeners, set } = counted()
  const place = document.body.appendChild(document.createElement('div'))
  const View = defineComponent(() => {
    const value = useVue(readable)
    return () => h('p', value.value)
  })
  const Other = defineComponent(() => () => h('p', 'another'))
  const isThere = ref(true)
  const app = createApp({ render: () => h(KeepAlive, null, { default: () => h(isThere.value ? View : Other) }) })
  app.mount(place)
  expect([place.textContent, listeners.size]).toEqual(['0', 1])
  isThere.value = false
  await nextTick()
  set(5)
  expect([place.textContent, listeners.size]).toEqual(['another', 0])
  isThere.value = true
  await nextTick()
  await nextTick()
  expect([place.textContent, listeners.size]).toEqual(['5', 1])
  set(6)
  await nextTick()
  expect(place.textContent).toBe('6')
  app.unmount()
  expect(listeners.size).toBe(0)
})
