import { playwright } from '@vitest/browser-playwright'
import { fileURLToPath } from 'node:url'
import { chromiumLaunch } from './chromium.ts'

/** The tests that run in a real browser. */
export async function browserProject(source: object) {
  return {
    ...source,
    optimizeDeps: {
      include: [
        'react',
        'react-dom',
        'react-dom/client',
        'vue',
        'svelte/store',
        'solid-js',
        'idb-keyval',
        'xstate',
        '@xstate/store',
        'zod/mini',
        'localforage',
        'ofetch',
      ],
    },
    test: {
      name: 'browser',
      include: ['test/browser/*.test.ts'],
      globalSetup: fileURLToPath(new URL('./global-setup.ts', import.meta.url)),
      testTimeout: 20_000,
      browser: {
        enabled: true,
        headless: true,
        screenshotFailures: false,
        provider: playwright({ launchOptions: await chromiumLaunch() }),
        instances: [{ browser: 'chromium' as const }],
      },
    },
  }
}
