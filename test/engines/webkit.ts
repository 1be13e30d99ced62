import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { hangMs } from '../limits.ts'
import { freePort } from '../support/free-port.ts'

const driverPath = '/usr/bin/WebKitWebDriver'
const displayPath = '/usr/bin/Xvfb'

/** WebKitGTK's WebDriver, and a display for it. */
export const webKitIsInstalled = existsSync(driverPath) && existsSync(displayPath)

/** A camera that needs no permission and shows a test picture. */
const cameraFlags = ['--enable-media-stream=true', '--enable-mock-capture-devices=true']

/** The browser that comes with the driver, which only one that is named is given flags; its folder is the machine's. */
function browser(): object {
  const [folder] = globSync('/usr/lib/*/webkit2gtk-4.*')
  return { binary: `${folder}/MiniBrowser`, args: ['--automation', ...cameraFlags] }
}

/** What a shopper can do at an element; unlike what a script does, the browser vouches for it. */
export type Act = 'down' | 'up' | 'key down' | 'key up' | 'wheel'

/** WebKitGTK on a display of its own, by the WebDriver protocol; what it has stored goes when it closes. */
export interface WebKit {
  version: string
  /** Opens one more tab and goes to it; its handle. */
  open(): Promise<string>
  /** What follows happens in that tab. */
  switchTo(handle: string): Promise<void>
  closeTab(): Promise<void>
  goto(url: string): Promise<void>
  /** What an expression comes to in the page, as JSON. */
  run(expression: string): Promise<unknown>
  /** What a shopper does at the first element of the selector, in the page's first frame. */
  act(what: Act, selector: string): Promise<void>
  close(): Promise<void>
}

export async function launchWebKit(): Promise<WebKit> {
  const display = start(displayPath, ['-displayfd', '1', '-nolisten', 'tcp', '-screen', '0', '1280x800x24'])
  const [number] = (await once(display.stdout!, 'data', { signal: AbortSignal.timeout(hangMs) })) as [Buffer]
  const port = await freePort()
  const environment = { GDK_BACKEND: 'x11', DISPLAY: `:${number.toString().trim()}` }
  const driver = start(driverPath, ['--host=127.0.0.1', `--port=${port}`], environment)

  async function send<T>(method: string, path: string, body?: object): Promise<T> {
    const sent = body ? JSON.stringify(body) : null
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: sent })
    const { value } = (await answer.json()) as { value: T & { error?: string; message?: string } }
    if (!answer.ok) throw new Error(`${method} ${path}: ${value.error}: ${value.message}`)
    return value
  }

  await answering(() => send('GET', '/status'))
  const { sessionId, capabilities } = await send<{ sessionId: string; capabilities: { browserVersion: string } }>(
    'POST',
    '/session',
    {
      capabilities: {
        alwaysMatch: {
          acceptInsecureCerts: true,
          timeouts: { script: hangMs },
          'webkitgtk:browserOptions': browser(),
        },
      },
    },
  )
  const session = `/session/${sessionId}`
  const switchTo = (handle: string) => send<void>('POST', `${session}/window`, { handle })
  const run = (expression: string) =>
    send<unknown>('POST', `${session}/execute/sync`, { script: `return (${expression})`, args: [] })
  const switchToFrame = (id: number | null) => send<void>('POST', `${session}/frame`, { id })

  return {
    version: capabilities.browserVersion,
    switchTo,
    async open() {
      const { handle } = await send<{ handle: string }>('POST', `${session}/window/new`, { type: 'tab' })
      await switchTo(handle)
      return handle
    },
    async closeTab() {
      const [first] = await send<string[]>('DELETE', `${session}/window`)
      if (first !== undefined) await switchTo(first)
    },
    async goto(url) {
      await send('POST', `${session}/url`, { url })
      // on a busy machine the driver may answer before the page's scripts have run
      await answering(() => run(`location.href !== 'about:blank' && document.readyState === 'complete'`))
    },
    run,
    async act(what, selector) {
      await switchToFrame(0)
      const origin = await send<object>('POST', `${session}/element`, { using: 'css selector', value: selector })
      await send('POST', `${session}/actions`, { actions: [actionsOf(what, origin)] })
      await switchToFrame(null)
    },
    async close() {
      await send('DELETE', session).catch(() => undefined)
      driver.kill()
      display.kill()
    },
  }
}

/** What is done, in the protocol's words. */
function actionsOf(what: Act, origin: object): object {
  const at = { origin, x: 0, y: 0 }
  if (what === 'wheel') return { id: what, type: 'wheel', actions: [{ type: 'scroll', ...at, deltaX: 0, deltaY: 10 }] }
  if (what === 'key down') return { id: 'key', type: 'key', actions: [{ type: 'keyDown', value: 'a' }] }
  if (what === 'key up') return { id: 'key', type: 'key', actions: [{ type: 'keyUp', value: 'a' }] }
  const turn = { type: what === 'down' ? 'pointerDown' : 'pointerUp', button: 0 }
  return { id: 'pointer', type: 'pointer', actions: [{ type: 'pointerMove', ...at }, turn] }
}

/** The driver tells nobody when it is ready, so it is asked until it answers. */
async function answering(ask: () => Promise<unknown>): Promise<void> {
  const end = Date.now() + hangMs
  while (!(await ask().catch(() => null))) {
    if (Date.now() > end) throw new Error('WebKitWebDriver does not answer')
    await pause(50)
  }
}

/** A process that ends when this one does, however that ends. */
function start(command: string, args: string[], environment: NodeJS.ProcessEnv = {}): ChildProcess {
  return spawn('setpriv', ['--pdeathsig', 'TERM', command, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...environment },
  })
}
