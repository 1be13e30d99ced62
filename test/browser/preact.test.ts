import { h, hydrate, render, type ComponentChild } from 'preact'
import { act } from 'preact/test-utils'
import type { Readable } from 'fitting-room'
import { useTryOn } from 'fitting-room/preact'
import { bindingsSuite, hydrationSuite } from './bindings.suite.ts'

type Shown = { of: Readable<any>; show: (value: any) => string }
const View = ({ of, show }: Shown) => h('p', { 'data-view': '' }, show(useTryOn(of)))

const drawn = (place: HTMLElement, view: ComponentChild) => void act(() => render(view, place))

bindingsSuite(
  'preact',
  (place, readables, show) => {
    drawn(
      place,
      readables.map((of, key) => h(View, { of, show, key })),
    )
    return () => drawn(place, null)
  },
  (place, readables, show) => {
    const select = (at: 0 | 1) => drawn(place, h(View, { of: readables[at], show }))
    select(0)
    return { select, unmount: () => drawn(place, null) }
  },
)

const Served = ({ of }: { of: Readable<number> }) => {
  const value = useTryOn(of)
  return h('p', { 'data-view': '', 'data-value': value }, value)
}

hydrationSuite('preact', '<p data-view="" data-value="0">0</p>', (place, of) => {
  void act(() => hydrate(h(Served, { of }), place))
  return () => drawn(place, null)
})
