import { defineBrowserProvider } from '@vitest/browser'
import { launchWebKit, type WebKit } from '../engines/webkit.ts'

declare module 'vitest/node' {
  interface _BrowserNames {
    webkitgtk: 'webkitgtk'
  }
}
declare module 'vitest/browser' {
  interface BrowserCommands {
    __vitest_viewport: () => Promise<void>
  }
}

/** Runs the tests of one project in WebKitGTK, one file at a time. */
export const webkitgtk = () =>
  defineBrowserProvider({
    name: 'webkitgtk',
    supportedBrowser: ['webkitgtk'],
    providerFactory(project) {
      // asked for before every file; the frame of the tests has its size without it
      project.browser?.registerCommand('__vitest_viewport', async () => {})
      let browser: Promise<WebKit> | undefined
      return {
        name: 'webkitgtk',
        supportsParallelism: false,
        getCommandsContext: () => ({ webkit: browser }),
        async openPage(_session, url) {
          browser ??= launchWebKit()
          await (await browser).goto(url)
        },
        close: async () => (await browser)?.close(),
      }
    },
  })
