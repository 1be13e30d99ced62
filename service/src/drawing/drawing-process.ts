import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { FunnelType } from 'fitting-room/contract'
import sharp from 'sharp'
import { PhotoNotReadable } from '../photo-problems.ts'
import type { Blob } from '../ports.ts'
import { cleaned } from './cleaned.ts'
import type { Errand, Reply } from './processes.ts'
import type { Told } from './process-guard.ts'
import { finished, prepared, render } from './renderer.ts'

/** How nice it is: at 5 it has a third of what another process has of a processor that both want. */
const behind = 5

// who ends the service with a signal to all of its processes means it to end in order: this one ends with it
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => {})
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))

/** The process in which strangers' files are decoded: it knows no secret, and may end at any moment. */
const guard = new Worker(new URL(`./process-guard${extname(import.meta.url)}`, import.meta.url), {
  argv: process.argv.slice(2),
})
await once(guard, 'message')
guard.unref()
// whoever waits for an answer comes before whoever waits for a picture; the guard has begun before, and keeps its own
setPriority(behind)
// each picture is seen once
sharp.cache(false)
// nothing else can be read, wherever it comes from: of drawings only the service's own and the configuration's get here
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: ['Jpeg', 'Png', 'Webp', 'Heif', 'Svg'].map((format) => `VipsForeignLoad${format}`) })

/** Null in place of `PhotoNotReadable`: an error loses its class on the way. */
const orNull = <T>(work: Promise<T>): Promise<T | null> =>
  work.catch((error: unknown) => {
    if (error instanceof PhotoNotReadable) return null
    throw error
  })

/** What can be asked of it. */
const methods = {
  cleanedFile: async (file: string): Promise<Blob | null> => orNull(cleaned(new Uint8Array(await readFile(file)))),
  render: (photo: Uint8Array, garment: Uint8Array, funnelType: FunnelType) =>
    orNull(render(photo, garment, funnelType)),
  finished,
  prepared,
}
export type DrawingMethods = typeof methods

/** Counts what one picture takes, from before it begins until after its end: between two looks nothing slips through. */
async function watched<T>(work: () => Promise<T>): Promise<T> {
  await told('begins')
  try {
    return await work()
  } finally {
    await told('ends')
  }
}

/** Resolves once the guard has looked. */
function told(what: Told): Promise<unknown> {
  const heard = once(guard, 'message')
  guard.postMessage(what)
  return heard
}

async function carryOut({ method, args }: Errand): Promise<Reply> {
  try {
    return { value: await watched(() => Reflect.get(methods, method)(...args)) }
  } catch (error) {
    return { error: String(error) }
  }
}

// whoever began this process may have ended
const say = (said: Reply) => process.send?.(said, undefined, undefined, () => {})
process.on('message', (errand: Errand) => void carryOut(errand).then(say))
say('ready')
