import { chromium, firefox, type Browser } from 'playwright'
import { hangMs } from '../limits.ts'
import { chromiumLaunch } from './chromium.ts'
import { firefoxIsInstalled, firefoxLaunch } from './firefox.ts'
import { launchWebKit, webKitIsInstalled } from './webkit.ts'

/** One page of a running browser. */
export interface Tab {
  /** Evaluates an expression in the page, waits for its promise and gives its JSON value. */
  run(expression: string): Promise<unknown>
  /** Errors and warnings on its console; WebKitGTK's driver does not tell. */
  readonly words: readonly string[]
  /** The addresses that it has loaded something from. */
  loaded(): Promise<readonly string[]>
  close(): Promise<void>
}

export interface RunningEngine {
  version: string
  /** Opens a page in one more tab; tabs share what they store. Self-signed certificates are accepted. */
  open(url: string): Promise<Tab>
  close(): Promise<void>
}

interface Engine {
  name: 'Chromium' | 'Firefox' | 'WebKitGTK'
  launch(): Promise<RunningEngine>
}

async function ofPlaywright(launched: Promise<Browser>): Promise<RunningEngine> {
  const browser = await launched
  const context = await browser.newContext({ ignoreHTTPSErrors: true })
  context.setDefaultTimeout(hangMs)
  return {
    version: browser.version(),
    async open(url) {
      const page = await context.newPage()
      const words: string[] = []
      const loaded: string[] = []
      page.on('request', (request) => loaded.push(request.url()))
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) words.push(message.text())
      })
      page.on('pageerror', (error) => words.push(String(error)))
      await page.goto(url)
      return {
        words,
        run: (expression) => page.evaluate(expression),
        loaded: async () => loaded,
        close: () => page.close(),
      }
    },
    close: () => browser.close(),
  }
}

async function ofWebKit(): Promise<RunningEngine> {
  const webKit = await launchWebKit()
  return {
    version: webKit.version,
    async open(url) {
      const handle = await webKit.open()
      await webKit.goto(url)
      return {
        words: [],
        async run(expression) {
          await webKit.switchTo(handle)
          return webKit.run(expression)
        },
        async loaded() {
          await webKit.switchTo(handle)
          return webKit.run(`performance.getEntriesByType('resource').map(({ name }) => name)`) as Promise<string[]>
        },
        async close() {
          await webKit.switchTo(handle)
          await webKit.closeTab()
        },
      }
    },
    close: () => webKit.close(),
  }
}

const all: (Engine & { installed: boolean })[] = [
  {
    name: 'Chromium',
    installed: true,
    launch: async () => ofPlaywright(chromium.launch(await chromiumLaunch())),
  },
  { name: 'Firefox', installed: firefoxIsInstalled, launch: () => ofPlaywright(firefox.launch(firefoxLaunch)) },
  { name: 'WebKitGTK', installed: webKitIsInstalled, launch: ofWebKit },
]

/** Every engine that is installed; Chromium comes with the packages. */
export const engines: readonly Engine[] = all.filter(({ installed }) => installed)
