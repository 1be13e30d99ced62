import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PhotoNotReadable } from '../photo-problems.ts'
import { ofJobs, type Blob, type Generator, type Line, type Pictures } from '../ports.ts'
import type { DrawingMethods } from './drawing-process.ts'
import { PhotoTooCostly, TookTooMuch } from './not-drawn.ts'
import { openProcesses } from './processes.ts'

/** Decodes and draws in processes of its own, which are ended where a picture takes too long or too much. */
export interface Drawing {
  /** A photo that has arrived in a file, without its metadata. Rejects with `PhotoNotReadable`, or `LineFull`. */
  cleanedFile(file: string, line: Line): Promise<Blob>
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
  const processes = openProcesses({
    file: fileURLToPath(new URL(`./drawing-process${extname(import.meta.url)}`, import.meta.url)),
    args: [String(mostMemory), String(longestMs)],
    env: {
      // what it decodes is kept in memory, of which there is a limit: a folder for it may have no room
      VIPS_DISC_THRESHOLD: '1g',
      // and given back: what earlier pictures have left would count as the next one's
      MALLOC_ARENA_MAX: '1',
      MALLOC_MMAP_THRESHOLD_: '131072',
      MALLOC_TRIM_THRESHOLD_: '131072',
    },
    atOnce,
    beginsAtOnce,
    longestMs: longestMs * 10,
  })

  async function ask<M extends keyof DrawingMethods>(
    method: M,
    args: Parameters<DrawingMethods[M]>,
    line: Line = { kind: 'job', of: '' },
  ): Promise<NonNullable<Awaited<ReturnType<DrawingMethods[M]>>>> {
    const answer = await processes.ask({ method, args }, line)
    if (answer === null) throw new PhotoNotReadable()
    return answer as NonNullable<Awaited<ReturnType<DrawingMethods[M]>>>
  }

  /** A photo that takes too much is as little use as one that cannot be read. */
  const ofPhoto = (photo: Promise<Blob>) =>
    photo.catch((error: unknown) => {
      if (!(error instanceof TookTooMuch)) throw error
      report(new Error('a photo was given up, as it takes too long or too much to decode', { cause: error }))
      throw new PhotoTooCostly()
    })

  return {
    cleanedFile: (file, line) => ofPhoto(ask('cleanedFile', [file], line)),
    finished: (picture) => ask('finished', [picture]),
    prepared: (picture) => ask('prepared', [picture]),
    render: (photo, garment, funnelType, storeId) => ask('render', [photo, garment, funnelType], ofJobs(storeId)),
    close: processes.close,
  }
}
