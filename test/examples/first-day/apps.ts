/** What an empty Vite app needs beside the README's component: two sizes, the server's markup, and a late hydration of it. */
interface App {
  files: Record<string, string>
  /** The files that render on a server, and that begin hydration. */
  server: string
  late: string
  /** What the template's plugin is given so that it compiles for a server, too. */
  plugin?: [string, string]
}

/** Hydration begins when the page knows more than the server did. */
const late = (hydrate: string) => `
import { tryOnOf } from './room'
const tryOn = tryOnOf('2001')
await new Promise<void>((resolve) => tryOn.subscribe(({ state }) => void (state === 'final' && resolve())))
document.body.dataset.before = tryOn.get().state
${hydrate}
`

export const apps: Record<'react' | 'vue' | 'svelte' | 'solid', App> = {
  react: {
    files: {
      'src/App.tsx': `
import { useState } from 'react'
import { TryOn } from './TryOn'

export default function App() {
  const [size, setSize] = useState('2001')
  return (
    <>
      <button id="2001" onClick={() => setSize('2001')}>S</button>
      <button id="2002" onClick={() => setSize('2002')}>M</button>
      <TryOn size={size} />
    </>
  )
}
`,
      'src/server.tsx': `
import { renderToString } from 'react-dom/server'
import App from './App'

export const html = renderToString(<App />)
`,
      'src/late.tsx': `
import { hydrateRoot } from 'react-dom/client'
import App from './App'
${late("hydrateRoot(document.getElementById('root')!, <App />)")}`,
    },
    server: 'src/server.tsx',
    late: '/src/late.tsx',
  },
  vue: {
    files: {
      'src/App.vue': `
<script setup lang="ts">
import { ref } from 'vue'
import TryOn from './TryOn.vue'

const size = ref('2001')
</script>

<template>
  <button id="2001" @click="size = '2001'">S</button>
  <button id="2002" @click="size = '2002'">M</button>
  <TryOn :size="size" />
</template>
`,
      'src/server.ts': `
import { createSSRApp } from 'vue'
import { renderToString } from 'vue/server-renderer'
import App from './App.vue'

export const html = await renderToString(createSSRApp(App))
`,
      'src/late.ts': `
import { createSSRApp } from 'vue'
import App from './App.vue'
${late("createSSRApp(App).mount('#app')")}`,
    },
    server: 'src/server.ts',
    late: '/src/late.ts',
  },
  svelte: {
    files: {
      'src/App.svelte': `
<script lang="ts">
  import TryOn from './TryOn.svelte'

  let size = $state('2001')
</script>

<button id="2001" onclick={() => (size = '2001')}>S</button>
<button id="2002" onclick={() => (size = '2002')}>M</button>
<TryOn {size} />
`,
      'src/server.ts': `
import { render } from 'svelte/server'
import App from './App.svelte'

export const html = render(App).body
`,
      'src/late.ts': `
import { hydrate } from 'svelte'
import App from './App.svelte'
${late("hydrate(App, { target: document.getElementById('app')! })")}`,
    },
    server: 'src/server.ts',
    late: '/src/late.ts',
  },
  solid: {
    files: {
      'src/App.tsx': `
import { createSignal } from 'solid-js'
import { TryOn } from './TryOn'

export default function App() {
  const [size, setSize] = createSignal('2001')
  return (
    <>
      <button id="2001" onClick={() => setSize('2001')}>S</button>
      <button id="2002" onClick={() => setSize('2002')}>M</button>
      <TryOn size={size()} />
    </>
  )
}
`,
      'src/server.tsx': `
import { generateHydrationScript, renderToString } from 'solid-js/web'
import App from './App'

export const html = renderToString(() => <App />)
export const script = generateHydrationScript()
`,
      'src/late.tsx': `
import { hydrate } from 'solid-js/web'
import App from './App'
${late("hydrate(() => <App />, document.getElementById('root')!)")}`,
    },
    server: 'src/server.tsx',
    late: '/src/late.tsx',
    plugin: ['solid()', 'solid({ ssr: true })'],
  },
}
