import { flushSync, hydrate, mount, unmount, type Component } from 'svelte'
import { bindingsSuite, hydrationSuite, type Follow, type Mount } from './bindings.suite.ts'
import FollowView from './svelte/Follow.svelte'
import Served from './svelte/Served.svelte'
import served from './svelte/Served.svelte?served'
import StoreView from './svelte/Store.svelte'
import RunesView from './svelte/View.svelte'

function shown(component: Component<any, any>, target: HTMLElement, props: object) {
  const made = mount(component, { target, props })
  flushSync()
  return made
}

const each =
  (component: Component<any>): Mount =>
  (place, readables, show) => {
    const made = readables.map((of) => shown(component, place, { of, show }))
    return () => made.forEach((one) => void unmount(one))
  }

const following =
  (stored: boolean): Follow =>
  (place, readables, show) => {
    const made = shown(FollowView, place, { readables, show, stored }) as { select(at: 0 | 1): void }
    return { select: (at) => flushSync(() => made.select(at)), unmount: () => void unmount(made) }
  }

bindingsSuite('svelte, runes', each(RunesView), following(false))
bindingsSuite('svelte, stores', each(StoreView), following(true))

hydrationSuite('svelte', served, (target, of) => {
  const made = hydrate(Served, { target, props: { of } })
  return () => void unmount(made)
})
