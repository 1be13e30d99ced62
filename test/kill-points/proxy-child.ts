import { createProxy } from 'fitting-room/proxy'
import { serveFetch } from '../support/serve-fetch.ts'

/** A proxy that dies by SIGKILL at the point that it is given, and says which it has passed. */
const { baseUrl, address, killAt, port } = JSON.parse(process.env['PROXY'] ?? '') as ProxyLoad

export interface ProxyLoad {
  baseUrl: string
  /** The shopper's own, so that the IP limit is theirs, too. */
  address: string
  /** The point at which it is killed; none where it is left alone. */
  killAt: string | null
  port: number
}

const passed = new Map<string, number>()

function point(kind: string): void {
  const count = (passed.get(kind) ?? 0) + 1
  passed.set(kind, count)
  const name = `${kind} ${count}`
  // a pipe is written before this returns
  process.stdout.write(`${name}\n`)
  if (name === killAt) process.kill(process.pid, 'SIGKILL')
}

const handle = createProxy({
  baseUrl,
  apiKey: 'sandbox-key',
  onError: () => {},
  async fetch(input, init = {}) {
    const name = `${init.method} ${new URL(String(input)).pathname.split('/')[1]}`
    point(`before ${name}`)
    const headers = new Headers(init.headers)
    headers.set('X-Forwarded-For', address)
    const answer = await fetch(input, { ...init, headers })
    point(`answered ${name}`)
    return answer
  },
})
await serveFetch(handle, undefined, 'http', port)
process.stdout.write('open\n')
