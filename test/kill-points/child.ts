import { createFittingRoom, type FlowStorage, type TryOnState } from 'fitting-room'
import { storageChain } from 'fitting-room/storage/chain'
import { fileStorage } from '../../examples/terminal/file-storage.ts'
import { onePixel, type Load, type Report } from './load.ts'

/**
 * One load of a page: starts what is not started, goes on with what is, and ends at the first stop. It dies by SIGKILL
 * at the point that it is given, by number or by name; what it has seen it says as it ends, either way.
 */
const { folders, killAt, failing, baseUrl, shopper, address } = JSON.parse(process.env['LOAD'] ?? '') as Load
let points = 0
const states: TryOnState[] = []

function report(end: Pick<Report, 'killedAt'>): string {
  const { state, attempt, problem, durable } = tryOn.get()
  const said = { state, states, jobId: attempt?.jobId ?? null, problem: problem?.kind ?? null, durable }
  return JSON.stringify({ ...end, ...said, points } satisfies Report)
}

function point(name: string): void {
  if (++points !== killAt && name !== killAt) return
  // a pipe is written before this returns
  process.stdout.write(report({ killedAt: name }))
  process.kill(process.pid, 'SIGKILL')
}

/** A point before and after each call. */
function around<T>(name: string, work: () => T): T {
  point(`before ${name}`)
  const value = work()
  point(`after ${name}`)
  return value
}

/** What stands under a key, in a word. */
function kind(key: string): string {
  if (key.startsWith('fitting-room:tier:')) return 'marker'
  const [, , , common, own] = key.split(':')
  return key.endsWith(':lease') ? 'lease' : String(own ?? common)
}

/** A storage whose every call is a point, or fails in this load. */
function counted(folder: string, tier: string, fails: boolean) {
  const files = fileStorage(folder)
  const { photos, update } = files
  if (!photos || !update) throw new Error('the file storage has photos and updates')
  const call = <T>(name: string, work: () => T): T => {
    if (fails) throw new Error('this storage fails')
    return around(`${tier}${name}`, work)
  }
  return {
    getItem: (key) => call(`get ${kind(key)}`, () => files.getItem(key)),
    setItem: (key, value) => call(`set ${kind(key)}`, () => files.setItem(key, value)),
    removeItem: (key) => call(`remove ${kind(key)}`, () => files.removeItem(key)),
    update: (key, change) => call(`update ${kind(key)}`, () => update(key, change)),
    photos: {
      get: (key) => call('get photo', () => photos.get(key)),
      set: (key, photo) => call('set photo', () => photos.set(key, photo)),
      remove: (key) => call('remove photo', () => photos.remove(key)),
    },
  } satisfies FlowStorage
}

async function request(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const name = `${init.method ?? 'GET'} ${new URL(String(input)).pathname.split('/')[1]}`
  point(`before ${name}`)
  const headers = new Headers(init.headers)
  headers.set('X-Forwarded-For', address)
  const answer = await fetch(input, { ...init, headers })
  point(`answered ${name}`)
  const text = await answer.text()
  point(`read ${name}`)
  const body = [204, 304].includes(answer.status) ? null : text
  return new Response(body, { status: answer.status, headers: answer.headers })
}

const [first = '', second] = folders
const room = createFittingRoom({
  baseUrl,
  apiKey: 'sandbox-key',
  uniqueUserId: shopper,
  storage:
    second === undefined
      ? counted(first, '', failing)
      : storageChain([counted(first, 'first: ', failing), counted(second, 'second: ', false)]),
  timing: { pollIntervalMs: 40 },
  fetch: request,
  putPhoto: async (url, { bytes, type }, { signal }) => {
    const headers = { 'Content-Type': type }
    return (await request(url, { method: 'PUT', body: bytes, headers, signal })).status
  },
})
const tryOn = room.tryOn({ productId: '1001', variantId: '2001', funnelIds: [11] })
await new Promise<void>((resolve) => {
  const look = () => {
    const { state } = tryOn.get()
    if (states.at(-1) !== state) states.push(state)
    if (state !== 'restoring') resolve()
  }
  tryOn.subscribe(look)
})
const { state, problem } = tryOn.get()
// only a shopper who has not consented yet gives a consent, and nobody does where it is not known
if (state === 'idle' && problem === null) await tryOn.start(new Blob([onePixel]))
if (tryOn.get().state !== 'idle') await tryOn.result().catch(() => undefined)
const ended = report({ killedAt: null })
process.on('exit', () => process.stdout.write(ended))
room.close()
