import { existsSync } from 'node:fs'
import { chromium, firefox, type BrowserContext, type Page, type Browser } from 'playwright'
import { chromiumLaunch } from '../browser/chromium.ts'

/** One page of a running browser. */
export interface Tab {
  /** Evaluates an expression in the page, waits for its promise and gives its JSON value. */
  run(expression: string): Promise<unknown>
  close(): Promise<void>
}

interface RunningEngine {
  version: string
  open(url: string): Promise<Tab>
  close(): Promise<void>
}

export interface Engine {
  name: string
  launch(): Promise<RunningEngine>
}

function ofPlaywright(browser: Browser, context: BrowserContext): RunningEngine {
  return {
    version: browser.version(),
    async open(url) {
      const page: Page = await context.newPage()
      await page.goto(url)
      return { run: (expression) => page.evaluate(expression), close: () => page.close() }
    },
    close: () => browser.close(),
  }
}

const firefoxPath = '/usr/bin/firefox-esr'

/** Every engine that is installed; Chromium always is. */
export async function engines(): Promise<Engine[]> {
  const found: Engine[] = [
    {
      name: 'Chromium',
      async launch() {
        const browser = await chromium.launch(await chromiumLaunch())
        return ofPlaywright(browser, await browser.newContext({ ignoreHTTPSErrors: true }))
      },
    },
  ]
  if (existsSync(firefoxPath)) {
    found.push({
      name: 'Firefox',
      async launch() {
        const browser = await firefox.launch({ channel: 'moz-firefox', executablePath: firefoxPath })
        return ofPlaywright(browser, await browser.newContext({ ignoreHTTPSErrors: true }))
      },
    })
  }
  return found
}
