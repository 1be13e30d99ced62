import { setTimeout as after } from 'node:timers/promises'
import { createFittingRoom, isTryOnError, type FlowStorage, type TryOnState } from 'fitting-room'
import { storageChain } from 'fitting-room/storage/chain'
import { fileStorage } from 'fitting-room/storage/file'
import { onePixel, type Load, type Report } from './load.ts'

/**
 * One load of a page: starts what is not started, goes on with what is, and ends at the first stop. It dies by SIGKILL
 * at the point that it is given; what it has seen it says as it ends, either way.
 *
 * A point is whatever may make a difference to those who find what is left: before each call that changes storage, which
 * is after the one before it, before each request, and as it is answered. Reads leave nothing behind.
 */
const { folders, killAt, failing, baseUrl, shopper, address } = JSON.parse(process.env['LOAD'] ?? '') as Load
const points: string[] = []
const states: TryOnState[] = []

function report(end: Pick<Report, 'killedAt'>): string {
  const { state, attempt, problem, durable } = tryOn.get()
  const said = { state, states, jobId: attempt?.jobId ?? null, problem: problem?.kind ?? null, durable }
  return JSON.stringify({ ...end, ...said, points } satisfies Report)
}

/** Named by what happens there and the how manieth of its kind it is, which is the same point in every run. */
function point(kind: string): void {
  const name = `${kind} ${points.filter((each) => each.startsWith(`${kind} `)).length + 1}`
  points.push(name)
  if (name !== killAt) return
  // a pipe is written before this returns
  process.stdout.write(report({ killedAt: name }))
  process.kill(process.pid, 'SIGKILL')
}

/** What stands under a key, in a word. */
function kind(key: string): string {
  if (key.startsWith('fitting-room:tier:')) return 'marker'
  const [, , , common, own] = key.split(':')
  return key.endsWith(':lease') ? 'lease' : String(own ?? common)
}

/** A storage whose every change is a point, or whose every call fails in this load. */
function watched(folder: string, tier: string, fails: boolean) {
  const files = fileStorage(folder)
  const { photos, update } = files
  if (!photos || !update) throw new Error('the file storage has photos and updates')
  const read = <T>(work: () => T): T => {
    if (fails) throw new Error('this storage fails')
    return work()
  }
  const change = <T>(name: string, work: () => T): T =>
    read(() => {
      point(`before ${tier}${name}`)
      return work()
    })
  return {
    getItem: (key) => read(() => files.getItem(key)),
    setItem: (key, value) => change(`set ${kind(key)}`, () => files.setItem(key, value)),
    removeItem: (key) => change(`remove ${kind(key)}`, () => files.removeItem(key)),
    update: (key, next) => change(`update ${kind(key)}`, () => update(key, next)),
    photos: {
      get: (key) => read(() => photos.get(key)),
      set: (key, photo) => change('set photo', () => photos.set(key, photo)),
      remove: (key) => change('remove photo', () => photos.remove(key)),
    },
  } satisfies FlowStorage
}

async function request(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
  const name = `${init.method ?? 'GET'} ${new URL(String(input)).pathname.replace(/^\/api(?=\/)/, '').split('/')[1]}`
  point(`before ${name}`)
  const headers = new Headers(init.headers)
  headers.set('X-Forwarded-For', address)
  const answer = await fetch(input, { ...init, headers })
  point(`answered ${name}`)
  return answer
}

/** A page that the machine has stalled for seconds has begun nothing and says so: its shopper says it again. */
async function consent(): Promise<void> {
  try {
    await tryOn.start(new Blob([onePixel]))
  } catch (error) {
    if (!isTryOnError(error) || error.kind !== 'storage') throw error
    await consent()
  }
}

const [first = '', second] = folders
const room = createFittingRoom({
  baseUrl,
  apiKey: 'sandbox-key',
  uniqueUserId: shopper,
  photos: { advice: false },
  storage:
    second === undefined
      ? watched(first, '', failing)
      : storageChain([watched(first, 'first: ', failing), watched(second, 'second: ', false)]),
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
// where no storage fails one may be slow, and its shopper presses the button again until it is read
while (!failing && tryOn.get().problem?.kind === 'storageUnreadable') {
  await tryOn.resume().catch(() => undefined)
  await after(100)
}
const { state, problem } = tryOn.get()
// only a shopper who has not consented yet gives a consent, and nobody does where it is not known
if (state === 'idle' && problem === null) await consent()
if (tryOn.get().state !== 'idle') await tryOn.result().catch(() => undefined)
const ended = report({ killedAt: null })
process.on('exit', () => process.stdout.write(ended))
room.close()
