import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium, type BrowserContext, type Page } from 'playwright'
import { chromiumLaunch } from '../engines/chromium.ts'
import { hangMs } from '../limits.ts'

/** A Chromium of its own process group on a profile that outlives it, which can be killed as a power cut would. */
interface ChromiumProcess {
  /** Where it speaks the DevTools protocol. */
  endpoint: string
  /** SIGKILL to the browser and all its processes. */
  kill(): Promise<void>
  ended: Promise<unknown>
}

export interface Chromium extends ChromiumProcess {
  context: BrowserContext
  open(url: string): Promise<Page>
  /** Ends it as a person does: unlike a kill, this leaves on disk what localStorage had still to write. */
  quit(): Promise<void>
}

interface ChromiumOptions {
  /** A folder that outlives the process; without one, a new one that goes with it. */
  profile?: string
  flags?: string[]
}

export async function spawnChromium({ profile, flags = [] }: ChromiumOptions = {}): Promise<ChromiumProcess> {
  const { executablePath, args } = await chromiumLaunch()
  const folder = profile ?? (await newProfile())
  const own = ['--headless', '--remote-debugging-port=0', `--user-data-dir=${folder}`, ...flags, 'about:blank']
  const child = spawn(executablePath, [...args, ...own], { detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'exit')
  const endpoint = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      const [, url] = /DevTools listening on (\S+)/.exec(line) ?? []
      if (url !== undefined) resolve(url)
    })
    void ended.then(([code]) => reject(new Error(`Chromium ended with ${code}`)))
  })
  return {
    endpoint,
    ended,
    async kill() {
      process.kill(-child.pid!, 'SIGKILL')
      await ended
      if (profile === undefined) await rm(folder, { recursive: true, force: true })
    },
  }
}

export const newProfile = () => mkdtemp(join(tmpdir(), 'fitting-room-'))

/** The same, driven by Playwright, for which every page is visible and has the focus. */
export async function startChromium(options?: ChromiumOptions): Promise<Chromium> {
  const running = await spawnChromium(options)
  const [context] = (await chromium.connectOverCDP(running.endpoint, { timeout: hangMs })).contexts()
  if (!context) throw new Error('Chromium has no context')
  context.setDefaultTimeout(hangMs)
  return {
    ...running,
    context,
    async open(url) {
      const page = await context.newPage()
      await page.goto(url)
      return page
    },
    async quit() {
      const session = await context.browser()?.newBrowserCDPSession()
      await session?.send('Browser.close').catch(() => undefined)
      await running.ended
    },
  }
}
