import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import workerpool from 'workerpool'
import { PhotoNotReadable } from '../photo-problems.ts'
import type { Blob, Generator, Pictures } from '../ports.ts'
import type { DrawingMethods } from './drawing-process.ts'

/** Decodes and draws in processes of its own, which are ended where a picture takes too long or too much. */
export interface Drawing {
  /** A photo, or the file that it is in, without its metadata. Rejects with `PhotoNotReadable`. */
  cleaned(photo: Uint8Array | string): Promise<Blob>
  render: Generator
  /** A picture that others made, as it is shown. */
  finished(picture: Uint8Array): Promise<Pictures>
  /** A picture as others are sent it. */
  prepared(picture: Uint8Array): Promise<Uint8Array>
  close(): Promise<void>
}

export interface DrawingOptions {
  /** How many pictures are drawn at once: it is the processor that they wait for. Default: 2. */
  atOnce?: number
  /** How long one may take of a processor, in ms. Default: 30 s; ten times that by the clock, as others may want it, too. */
  longestMs?: number
  /** What a process may take, in bytes. Default: 1.2 GB, twice what the largest picture needs, and its own. */
  mostMemory?: number
  /** Begins its processes now, and new ones for those that end, rather than at the first need. Default: false. */
  beginsAtOnce?: boolean
  /** Hears of pictures that took too much. */
  report: (error: unknown) => void
}

/** The larger a process, the longer it stands still where it begins another: some 45 ms for each GB. */
export function openDrawing({
  atOnce = 2,
  longestMs = 30_000,
  mostMemory = 1_200_000_000,
  beginsAtOnce = false,
  report,
}: DrawingOptions): Drawing {
  const processFile = fileURLToPath(new URL(`./drawing-process${extname(import.meta.url)}`, import.meta.url))
  const pool = workerpool.pool(processFile, {
    workerType: 'process',
    maxWorkers: atOnce,
    ...(beginsAtOnce && { minWorkers: 'max' }),
    workerTerminateTimeout: 0,
    forkArgs: [String(mostMemory), String(longestMs)],
    // bytes as they are; and nothing of this process that a picture could want
    forkOpts: { serialization: 'advanced', execArgv: [], env: {} },
  })

  async function ask<M extends keyof DrawingMethods>(
    method: M,
    ...args: Parameters<DrawingMethods[M]>
  ): Promise<NonNullable<Awaited<ReturnType<DrawingMethods[M]>>>> {
    const answer = await pool.exec<DrawingMethods[M]>(method, args).timeout(longestMs * 10)
    if (answer === null) throw new PhotoNotReadable()
    return answer
  }

  return {
    async cleaned(photo) {
      try {
        return await (typeof photo === 'string' ? ask('cleanedFile', photo) : ask('cleaned', new Uint8Array(photo)))
      } catch (error) {
        if (error instanceof PhotoNotReadable) throw error
        report(new Error('a photo was given up, as it takes too long or too much to decode', { cause: error }))
        throw new PhotoNotReadable()
      }
    },
    finished: (picture) => ask('finished', picture),
    prepared: (picture) => ask('prepared', picture),
    render: (photo, garment, funnelType) => ask('render', photo, garment, funnelType),
    close: async () => {
      await pool.terminate(true)
    },
  }
}
