import { transformAsync } from '@babel/core'
import solid from 'babel-preset-solid'
import { randomUUID } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as Compiler from 'svelte/compiler'
import type * as Server from 'svelte/server'
import ts from 'typescript'

/** What a server has: it must neither read nor subscribe. */
const served = {
  initial: 0,
  get: () => {
    throw new Error('read on a server')
  },
  subscribe: () => {
    throw new Error('subscribed on a server')
  },
}

const root = new URL('../../', import.meta.url)

/** Runs the server's build of a component with the frameworks of that folder; its adapter is the built one. */
async function onServer(file: string, code: string, home: URL): Promise<any> {
  const folder = new URL('node_modules/.cache/served/', home)
  await mkdir(folder, { recursive: true })
  const module = new URL(`${basename(file)}.${randomUUID()}.mjs`, folder)
  const built = (_: string, name: string) => `'${new URL(`dist/adapters/${name}.js`, root).href}'`
  await writeFile(module, code.replace(/['"](?:\.\.\/)+adapters\/(\w+)\.ts['"]/, built))
  return import(/* @vite-ignore */ module.href)
}

/** Compiles the tests' own components with that folder's Svelte; with `?served` a module is the HTML that a server renders of its component. */
export function compilers(home: URL) {
  const require = createRequire(new URL('package.json', home))
  async function svelteOf(file: string, isServed: boolean): Promise<string> {
    const source = await readFile(file, 'utf8')
    const { compile } = require('svelte/compiler') as typeof Compiler
    const options = { filename: file, dev: !isServed, css: 'injected' } as const
    if (!isServed) return compile(source, { ...options, generate: 'client' }).js.code
    const { default: component } = await onServer(
      file,
      compile(source, { ...options, generate: 'server' }).js.code,
      home,
    )
    const { render } = (await import(
      /* @vite-ignore */ pathToFileURL(require.resolve('svelte/server')).href
    )) as typeof Server
    return `export default ${JSON.stringify(render(component, { props: { of: served } }).body)}`
  }

  async function solidOf(file: string, isServed: boolean): Promise<string> {
    const generate = isServed ? 'ssr' : 'dom'
    const presets = [[solid, { generate, hydratable: true }]]
    const source = await readFile(file, 'utf8')
    const made = await transformAsync(source, { filename: file, configFile: false, babelrc: false, presets })
    if (!isServed) return made?.code ?? ''
    const { default: View } = await onServer(file, made?.code ?? '', root)
    const { createComponent, renderToString } = await import('solid-js/web')
    return `export default ${JSON.stringify(renderToString(() => createComponent(View, { of: served })))}`
  }

  async function angularOf(file: string): Promise<string> {
    // before everything else of Angular: what is not compiled beforehand is compiled as it runs
    await import('@angular/compiler')
    const { bootstrapApplication, provideClientHydration } = await import('@angular/platform-browser')
    const { provideServerRendering, renderApplication } = await import('@angular/platform-server')
    const { View, shown } = await import(/* @vite-ignore */ pathToFileURL(file).href)
    const value = { provide: shown, useValue: { source: served, show: String } }
    const providers = [provideServerRendering(), provideClientHydration(), value]
    const page = await renderApplication((context) => bootstrapApplication(View, { providers }, context), {
      document: '<html><head></head><body><test-view></test-view></body></html>',
    })
    return `export default ${JSON.stringify(/<body[^>]*>(.*)<\/body>/s.exec(page)?.[1])}`
  }

  /** The README's component for Angular, with its room at the service of the tests. */
  async function angularOfReadme(file: string): Promise<string> {
    const readme = await readFile(file, 'utf8')
    const block = (name: string) => readme.split(`\n// ${name}`)[1]?.split('\n').slice(1).join('\n').split('\n```')[0]
    const component = block('src/app/try-on.ts')?.replace(/import .* from '..\/room'\n/, '')
    const room = block('src/room.ts')?.replace(`'/api'`, `given('baseUrl')`)
    // that an input is one the compiler tells, which these tests do without
    const whole = `import { inject as given } from 'vitest'\n${room}\n${component?.replace('input.required<string>()', `input('2001')`)}`
    const compilerOptions = { target: ts.ScriptTarget.ES2022, experimentalDecorators: true }
    return ts.transpileModule(whole, { compilerOptions }).outputText
  }

  return {
    name: 'compilers',
    enforce: 'pre' as const,
    async load(id: string) {
      const [file = '', query] = id.split('?')
      const isServed = query === 'served'
      if (file.endsWith('.svelte')) return svelteOf(file, isServed)
      if (file.endsWith('angular-view.ts') && isServed) return angularOf(file)
      if (file.endsWith('README.md') && query === 'angular') return angularOfReadme(file)
      return file.endsWith('.solid.jsx') ? solidOf(file, isServed) : undefined
    },
  }
}
