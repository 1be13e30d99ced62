import { playwright } from '@vitest/browser-playwright'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defaultClientConditions } from 'vite'
import { chromiumLaunch } from '../engines/chromium.ts'
import { firefoxIsInstalled, firefoxLaunch } from '../engines/firefox.ts'
import { webKitIsInstalled } from '../engines/webkit.ts'
import { hangMs, limits } from '../limits.ts'
import { act } from './acts.ts'
import oldest from '../oldest/package.json' with { type: 'json' }
import { compilers } from './compilers.ts'
import { webkitgtk } from './webkit-provider.ts'

const providers = {
  chromium: async () => playwright({ launchOptions: await chromiumLaunch() }),
  firefox: () => playwright({ launchOptions: firefoxLaunch }),
  webkitgtk,
}
const isInstalled = { chromium: true, firefox: firefoxIsInstalled, webkitgtk: webKitIsInstalled }

/** The tests that run in a real browser, once for each engine that is installed. */
export function browserProjects(source: object) {
  const named = Object.keys(providers) as (keyof typeof providers)[]
  for (const engine of named)
    if (!isInstalled[engine]) console.log(`${engine} is not installed: its tests are left out`)
  const installed = named.filter((engine) => isInstalled[engine])
  const latest = installed.map((engine) => browserProject(source, engine, engine, ['test/browser/*.test.ts'], []))
  // for the tests' own imports and for those of the bindings
  const of = (name: string) => `@fitting-room/oldest-frameworks/node_modules/${name}`
  const folders = Object.keys(oldest.dependencies).filter((name) => !/^(?:svelte$|@angular)/.test(name))
  const alias = [
    ...folders.map((name) => ({ find: new RegExp(`^${name}(?=$|/)`), replacement: of(name) })),
    // the entries of these are not where their folders are
    { find: /^@angular\/([\w-]+)$/, replacement: of('@angular/$1/fesm2022/$1.mjs') },
    { find: /^@angular\/(\w+)\/(.+)$/, replacement: of('@angular/$1/fesm2022/$2.mjs') },
    { find: /^svelte$/, replacement: of('svelte/src/index-client.js') },
    { find: /^svelte\/(store|reactivity)$/, replacement: of('svelte/src/$1/index-client.js') },
    { find: /^svelte\/internal\/client$/, replacement: of('svelte/src/internal/client/index.js') },
    { find: /^svelte\/internal\/(disclose-version)$/, replacement: of('svelte/src/internal/$1.js') },
  ]
  const tests = ['test/oldest/*.test.ts', 'test/browser/{bindings,preact,svelte}.test.ts']
  return Promise.all([...latest, browserProject(source, 'oldest', 'chromium', tests, alias)])
}

async function browserProject(
  source: object,
  name: string,
  engine: keyof typeof providers,
  include: string[],
  alias: { find: RegExp; replacement: string }[],
) {
  const home = new URL(name === 'oldest' ? '../oldest/' : '../../', import.meta.url)
  return {
    ...source,
    // what replaces the browsers' own conditions would bring the servers' builds
    resolve: { conditions: ['fitting-room-source', ...defaultClientConditions], alias },
    plugins: [compilers(home)],
    optimizeDeps: {
      include: [
        '@angular/compiler',
        '@angular/core',
        '@angular/platform-browser',
        'preact',
        'preact/hooks',
        'preact/test-utils',
        'react',
        'react-dom',
        'react-dom/client',
        'vue',
        'svelte',
        'svelte/internal/client',
        'svelte/internal/disclose-version',
        'svelte/reactivity',
        'svelte/store',
        'solid-js',
        'solid-js/web',
        'xstate',
        'localforage',
        '@react-native-async-storage/async-storage',
      ],
    },
    test: {
      name,
      include,
      // engines keep the processors busy: by themselves, once all else is done; the one that has one page waits for itself
      maxWorkers: 2 * availableParallelism(),
      sequence: { groupOrder: engine === 'webkitgtk' ? 0 : 1 },
      globalSetup: fileURLToPath(new URL('./global-setup.ts', import.meta.url)),
      ...limits,
      browser: {
        enabled: true,
        connectTimeout: hangMs,
        headless: true,
        screenshotFailures: false,
        provider: await providers[engine](),
        instances: [{ browser: engine }],
        commands: { act },
      },
    },
  }
}
