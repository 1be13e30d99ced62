import { createElement, StrictMode, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { createRoot, hydrateRoot } from 'react-dom/client'
import { createRoot as createSolidRoot, createRenderEffect, createSignal } from 'solid-js'
import { createApp, createSSRApp, defineComponent, h, shallowRef } from 'vue'
import { expect, it, vi } from 'vitest'
import type { Readable } from 'fitting-room'
import { useTryOn as useReact } from 'fitting-room/react'
import { useTryOn as useSolid } from 'fitting-room/solid'
import { useTryOn as useSvelte } from 'fitting-room/svelte'
import { useTryOn as useVue } from 'fitting-room/vue'
import { bindingsSuite, type Follow, type Mount } from './bindings.suite.ts'

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

const mountSvelte: Mount = (place, readables, show) => {
  const ends = readables.map((readable) => {
    const paragraph = paragraphIn(place)
    const end = useSvelte(readable).subscribe((value) => (paragraph.textContent = show(value)))
    return () => {
      end()
      paragraph.remove()
    }
  })
  return () => ends.forEach((end) => end())
}
bindingsSuite('svelte', mountSvelte)

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

/** Hydrates a paragraph; returns what unmounts it. */
type Hydrate = (place: HTMLElement, readable: Readable<number>) => () => void

const hydrates: [string, Hydrate][] = [
  [
    'react',
    (place, readable) => {
      const View = () => createElement('p', { 'data-view': '' }, useReact(readable))
      const root = hydrateRoot(place, createElement(View))
      return () => root.unmount()
    },
  ],
  [
    'vue',
    (place, readable) => {
      const setup = () => {
        const value = useVue(readable)
        return () => h('p', { 'data-view': '' }, value.value)
      }
      const app = createSSRApp(defineComponent({ setup }))
      app.mount(place)
      return () => app.unmount()
    },
  ],
]

it.each(hydrates)('%s hydrates what a server has rendered, and then shows what there is', async (_, hydrate) => {
  const complaints = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn')]
  const place = document.body.appendChild(document.createElement('div'))
  place.innerHTML = '<p data-view="">0</p>'
  const paragraph = place.firstElementChild
  const unmount = hydrate(place, { initial: 0, get: () => 5, subscribe: () => ({ unsubscribe: () => {} }) })
  await expect.poll(() => place.textContent).toBe('5')
  expect(place.firstElementChild).toBe(paragraph)
  for (const complaint of complaints) expect(complaint).not.toHaveBeenCalled()
  unmount()
  place.remove()
  vi.restoreAllMocks()
})
