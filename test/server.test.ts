import { h } from 'preact'
import { renderToString as renderPreact } from 'preact-render-to-string'
import { createElement } from 'react'
import { renderToString as renderReact } from 'react-dom/server'
import { createSSRApp, defineComponent, h as vueElement } from 'vue'
import { renderToString as renderVue } from 'vue/server-renderer'
import { expect, it } from 'vitest'
import type { Readable } from 'fitting-room'
import { useTryOn as usePreact } from 'fitting-room/preact'
import { useTryOn as useReact } from 'fitting-room/react'
import { useTryOn as useVue } from 'fitting-room/vue'

/** Nothing is read on a server, and nobody listens. */
const of: Readable<number> = {
  initial: 7,
  get: () => {
    throw new Error('read on a server')
  },
  subscribe: () => {
    throw new Error('subscribed on a server')
  },
}

const renders: [string, () => string | Promise<string>][] = [
  ['react', () => renderReact(createElement(() => createElement('p', null, useReact(of))))],
  ['preact', () => renderPreact(h(() => h('p', null, usePreact(of)), null))],
  [
    'vue',
    () => {
      const setup = () => {
        const value = useVue(of)
        return () => vueElement('p', value.value)
      }
      return renderVue(createSSRApp(defineComponent({ setup })))
    },
  ],
]

// Svelte and Solid render what the browsers' suites hydrate
it.each(renders)('%s renders the initial value on a server, and starts nothing', async (_, render) => {
  expect(await render()).toBe('<p>7</p>')
})
