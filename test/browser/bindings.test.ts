import { createElement, StrictMode, type ReactNode } from 'react'
import { flushSync } from 'react-dom'
import { createRoot } from 'react-dom/client'
import { createRoot as createSolidRoot, createRenderEffect } from 'solid-js'
import { createApp, defineComponent, h } from 'vue'
import type { Readable } from 'fitting-room'
import { useTryOn as useReact } from 'fitting-room/react'
import { useTryOn as useSolid } from 'fitting-room/solid'
import { useTryOn as useSvelte } from 'fitting-room/svelte'
import { useTryOn as useVue } from 'fitting-room/vue'
import { bindingsSuite, type Mount } from './bindings.suite.ts'

const react =
  (wrap: (children: ReactNode) => ReactNode): Mount =>
  (place, readables, show) => {
    const View = ({ of }: { of: Readable<unknown> }) =>
      createElement('p', { 'data-view': '' }, show(useReact(of) as never))
    const root = createRoot(place)
    flushSync(() => root.render(wrap(readables.map((of, key) => createElement(View, { of, key })))))
    return () => root.unmount()
  }
bindingsSuite(
  'react',
  react((children) => children),
)
bindingsSuite(
  'react in StrictMode',
  react((children) => createElement(StrictMode, null, children)),
)

bindingsSuite('vue', (place, readables, show) => {
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
})

bindingsSuite('svelte', (place, readables, show) => {
  const ends = readables.map((readable) => {
    const paragraph = place.appendChild(document.createElement('p'))
    paragraph.dataset['view'] = ''
    const end = useSvelte(readable).subscribe((value) => (paragraph.textContent = show(value)))
    return () => {
      end()
      paragraph.remove()
    }
  })
  return () => ends.forEach((end) => end())
})

bindingsSuite('solid', (place, readables, show) =>
  createSolidRoot((dispose) => {
    for (const readable of readables) {
      const view = useSolid(readable)
      const paragraph = place.appendChild(document.createElement('p'))
      paragraph.dataset['view'] = ''
      createRenderEffect(() => (paragraph.textContent = show(view())))
    }
    return () => {
      dispose()
      place.replaceChildren()
    }
  }),
)
