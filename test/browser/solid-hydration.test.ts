import { createComponent } from 'solid-js'
import { hydrate, render } from 'solid-js/web'
import { expect, it } from 'vitest'
import { hydrationSuite } from './bindings.suite.ts'
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
