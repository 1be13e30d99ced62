import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { ProxyLoad } from './proxy-child.ts'
import { freePort } from '../support/free-port.ts'

interface OpenProxy {
  url: string
  /** The points that the first of its processes has passed. */
  points(): readonly string[]
  close(): Promise<void>
}

/** A proxy by that program in a process of its own, after whose death another one takes its place, and is left alone. */
export async function openProxy(program: string, load: Omit<ProxyLoad, 'port'>): Promise<OpenProxy> {
  const points: string[] = []
  let port = 0
  let running: ChildProcess
  let isClosed = false

  /** Resolves with whether it is open: one whose port somebody else has taken in the meantime dies before. */
  async function run(killAt: string | null, onPoint: (name: string) => void): Promise<boolean> {
    const env = { ...process.env, PROXY: JSON.stringify({ ...load, killAt, port } satisfies ProxyLoad) }
    running = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const closed = once(running, 'close')
    const lines = createInterface({ input: running.stdout! })
    const opened = new Promise<true>((resolve) =>
      lines.on('line', (line) => (line === 'open' ? resolve(true) : onPoint(line))),
    )
    const isOpen = await Promise.race([opened, closed.then(() => false)])
    if (isOpen) void closed.then(comeBack)
    return isOpen
  }

  async function comeBack(): Promise<void> {
    if (isClosed || (await run(null, () => {}))) return
    await comeBack()
  }

  do port = await freePort()
  while (!(await run(load.killAt, (name) => points.push(name))))
  return {
    url: `http://127.0.0.1:${port}/api`,
    points: () => points,
    async close() {
      isClosed = true
      const closed = once(running, 'close')
      running.kill('SIGKILL')
      await closed
    },
  }
}
