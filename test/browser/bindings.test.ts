import { createElement, StrictMode, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { createRoot as createSolidRoot, createRenderEffect, createSignal } from 'solid-js'
import { createApp, createSSRApp, defineComponent, h, shallowRef } from 'vue'
import type { Readable } from 'fitting-room'
import { useTryOn as useReact } from 'fitting-room/react'
import { useTryOn as useSolid } from 'fitting-room/solid'
import { useTryOn as useVue } from 'fitting-room/vue'
import { bindingsSuite, hydrationSuite, type Follow, type Mount } from './bindings.suite.ts'

function paragraphIn(place: HTMLElement): HTMLElement {
  const paragraph = place.appendChild(document.createElement('p'))
  paragraph.dataset['view'] = ''
  return paragraph
}

function react(wrap: (children: ReactNode) => ReactNode): [Mount, Follow] {
  const viewOf =
    (show: (value: never) => string) =>
    ({ of }: { of: Readable<unknown> }) =>
      createElement('p', { 'data-view': '' }, show(useReact(of) as never))
  return [
    (place, readables, show) => {
      const View = viewOf(show)
      const root = createRoot(place)
      flushSync(() => root.render(wrap(readables.map((of, key) => createElement(View, { of, key })))))
      return () => root.unmount()
    },
    (place, readables, show) => {
      const View = viewOf(show)
      const root = createRoot(place)
      const select = (at: 0 | 1) => flushSync(() => root.render(wrap(createElement(View, { of: readables[at] }))))
      select(0)
      return { select, unmount: () => root.unmount() }
    },
  ]
}
bindingsSuite('react', ...react((children) => children))
bindingsSuite('react in StrictMode', ...react((children) => createElement(StrictMode, null, children)))

const mountVue: Mount = (place, readables, show) => {
  const View = defineComponent({
    props: { of: { type: Object, required: true } },
    setup(props) {
      const view = useVue(props['of'] as Readable<never>)
      return () => h('p', { 'data-view': '' }, show(view.value))
    },
  })
  const app = createApp({ render: () => readables.map((of) => h(View, { of })) })
  app.mount(place)
  return () => app.unmount()
}
bindingsSuite('vue', mountVue, (place, readables, show) => {
  const at = shallowRef<0 | 1>(0)
  const setup = () => {
    const view = useVue(() => readables[at.value])
    return () => h('p', { 'data-view': '' }, show(view.value))
  }
  const app = createApp(defineComponent({ setup }))
  app.mount(place)
  return { select: (next) => void (at.value = next), unmount: () => app.unmount() }
})

const mountSolid: Mount = (place, readables, show) =>
  createSolidRoot((dispose) => {
    for (const readable of readables) {
      const view = useSolid(readable)
      const paragraph = paragraphIn(place)
      createRenderEffect(() => (paragraph.textContent = show(view())))
    }
    return () => {
      dispose()
      place.replaceChildren()
    }
  })
bindingsSuite('solid', mountSolid, (place, readables, show) =>
  createSolidRoot((dispose) => {
    const [at, select] = createSignal<0 | 1>(0)
    const view = useSolid(() => readables[at()])
    const paragraph = paragraphIn(place)
    createRenderEffect(() => (paragraph.textContent = show(view())))
    return { select: (next) => void select(next), unmount: dispose }
  }),
)

hydrationSuite('react', '<p data-view="">0</p>', (place, of) => {
  const View = () => createElement('p', { 'data-view': '' }, useReact(of))
  const root = hydrateRoot(place, createElement(View))
  return () => root.unmount()
})

hydrationSuite('vue', '<p data-view="">0</p>', (place, of) => {
  const setup = () => {
    const value = useVue(of)
    return () => h('p', { 'data-view': '' }, value.value)
  }
  const app = createSSRApp(defineComponent({ setup }))
  app.mount(place)
  return () => app.unmount()
})
