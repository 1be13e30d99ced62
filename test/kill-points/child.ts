import { readFileSync } from 'node:fs'
import { createFittingRoom, type FlowStorage } from 'fitting-room'
import { fileStorage } from '../../examples/terminal/file-storage.ts'

/**
 * One run of a page: starts what is not started, goes on with what is, and ends at the first stop. It dies by SIGKILL at
 * the point whose number it is given, and prints how it ended.
 */
const { BASE_URL = '', FOLDER = '', KILL_AT = '0', PHOTO = '', SHOPPER = '' } = process.env
const killAt = Number(KILL_AT)
let points = 0

function point(name: string): void {
  if (++points !== killAt) return
  process.stderr.write(`killed at ${name}`)
  process.kill(process.pid, 'SIGKILL')
}

/** A point before and after each call. */
function around<T>(name: string, work: () => T): T {
  point(`before ${name}`)
  const value = work()
  point(`after ${name}`)
  return value
}

const files = fileStorage(FOLDER)
const { photos, update } = files
if (!photos || !update) throw new Error('the file storage has photos and updates')
const kind = (key: string) => key.split(':').slice(4, 5).join()
const storage: FlowStorage = {
  getItem: (key) => around(`get ${kind(key)}`, () => files.getItem(key)),
  setItem: (key, value) => around(`set ${kind(key)}`, () => files.setItem(key, value)),
  removeItem: (key) => around(`remove ${kind(key)}`, () => files.removeItem(key)),
  update: (key, change) => around(`update ${kind(key)}`, () => update(key, change)),
  photos: {
    get: (key) => around('get photo', () => photos.get(key)),
    set: (key, photo) => around('set photo', () => photos.set(key, photo)),
    remove: (key) => around('remove photo', () => photos.remove(key)),
  },
}

async function counted(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const name = `${init?.method ?? 'GET'} ${new URL(String(input)).pathname.split('/')[1]}`
  point(`before ${name}`)
  const answer = await fetch(input, init)
  point(`answered ${name}`)
  const text = await answer.text()
  point(`read ${name}`)
  const body = [204, 304].includes(answer.status) ? null : text
  return new Response(body, { status: answer.status, headers: answer.headers })
}

const room = createFittingRoom({
  baseUrl: BASE_URL,
  apiKey: 'sandbox-key',
  uniqueUserId: SHOPPER,
  storage,
  timing: { pollIntervalMs: 40 },
  fetch: counted,
  putPhoto: async (url, { bytes, type }, { signal }) => {
    const headers = { 'Content-Type': type }
    return (await counted(url, { method: 'PUT', body: bytes, headers, signal })).status
  },
})
const tryOn = room.tryOn({ productId: '1001', variantId: '2001', funnelIds: [11] })
const restored = new Promise<void>((resolve) => {
  const look = () => tryOn.get().state !== 'restoring' && resolve()
  tryOn.subscribe(look)
})
await restored
const found = tryOn.get()
// only a shopper who has not consented yet gives a consent
if (found.state === 'idle') await tryOn.start(new Blob([readFileSync(PHOTO)]))
await tryOn.result().catch(() => undefined)
const { state, attempt, durable } = tryOn.get()
process.stdout.write(JSON.stringify({ state, jobId: attempt?.jobId ?? null, durable, points, found: found.state }))
process.exit(0)
