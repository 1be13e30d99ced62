import { createComponent, createResource, createSignal, startTransition, Suspense } from 'solid-js'
import { hydrate, render } from 'solid-js/web'
import { expect, it } from 'vitest'
import { useTryOn } from 'fitting-room/solid'
import { deferred } from '../../src/platform/deferred.ts'
import { counted, hydrationSuite } from './bindings.suite.ts'
import View from './View.solid.jsx'
import served from './View.solid.jsx?served'

hydrationSuite('solid', served, (place, of) => {
  // what generateHydrationScript() puts into a page
  Object.assign(globalThis, { _$HY: { events: [], completed: new WeakSet(), r: {}, fe() {} } })
  return hydrate(() => createComponent(View, { of }), place)
})

it('solid shows what there is at once in a component that comes after hydration', () => {
  const place = document.createElement('div')
  const of = { initial: 0, get: () => 5, subscribe: () => ({ unsubscribe: () => {} }) }
  const dispose = render(() => createComponent(View, { of }), place)
  expect(place.textContent).toBe('5')
  dispose()
})

it('solid follows what a transition leaves until that is over, and then what it has led to', async () => {
  const place = document.createElement('div')
  const [former, next] = [counted(), counted()]
  const { promise, resolve } = deferred<string>()
  const begun = deferred()
  const [at, select] = createSignal(former)
  const dispose = render(() => {
    const [beside] = createResource(at, (now) => {
      if (now === former) return 'former'
      begun.resolve()
      return promise
    })
    const view = useTryOn(() => at().readable)
    const children = [view, ' ', beside]
    return createComponent(Suspense, { fallback: 'waits', children: children as never })
  }, place)
  await expect.poll(() => place.textContent).toBe('0 former')
  const over = startTransition(() => void select(next))
  await begun.promise
  next.set(6)
  expect(place.textContent).toBe('0 former')
  former.set(1)
  expect(place.textContent).toBe('1 former')
  resolve('next')
  await over
  expect(place.textContent).toBe('6 next')
  next.set(7)
  expect([place.textContent, former.listeners.size, next.listeners.size]).toEqual(['7 next', 0, 1])
  dispose()
  expect(next.listeners.size).toBe(0)
})
