import { Hono, type Context } from 'hono'
import { answer, answerPreflight } from './answers.ts'
import { ApiProblem, badInput } from './api-problem.ts'
import { PhotoTooCostly } from './drawing/not-drawn.ts'
import { PhotoNotReadable } from './photo-problems.ts'
import { openIn, type BlobStore, type Clock, type Line, type PhotoIntake, type Store } from './ports.ts'
import { photoLimits } from './photo-limits.ts'
import type { Uploads } from './uploads.ts'

export interface PhotoParts {
  blobs: BlobStore
  uploads: Uploads
  takePhoto: PhotoIntake
  keepPhoto: Store['keepPhoto']
  clock: Clock
}

/** How many targets are remembered whose photo took too much: they expire soon. */
const mostSpent = 10_000

/** Takes photos at their signed targets, and serves them and the pictures; none of it is the contract's, but its addresses are. */
export function addPhotoRoutes<E extends { Bindings: object }>(
  app: Hono<E>,
  parts: PhotoParts,
  clientIp: (context: Context<E>) => string,
): void {
  const { blobs, uploads, takePhoto, keepPhoto, clock } = parts
  const uploadsOf = (context: Context<E>): Line => ({ kind: 'upload', of: clientIp(context) })
  /** Targets whose photo is taken, and those whose photo took too much. */
  const taking = new Map<string, { done: Promise<unknown>; hurry(): void }>()
  const spent = new Set<string>()

  app.get('/photos/:name', (context) => picture(context))
  app.put('/photos/:name', async (context) => {
    const upload = uploads.verify(new URL(context.req.url), clock.now())
    if (upload === null) throw new ApiProblem(403, { error: 'Upload target is not valid or has expired' })
    const type = context.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()
    if (type !== upload.type) throw new ApiProblem(415, { error: `This upload target takes ${upload.type}` })
    const isTooLarge = Number(context.req.header('Content-Length')) > photoLimits.atMost
    const take = () =>
      taken(upload.name, (hurry) => takePhoto(context.req.raw, { ...photoLimits, hurry }, uploadsOf(context)))
    const photo = isTooLarge ? 'tooLarge' : await take()
    if (photo === 'tooLarge') throw new ApiProblem(413, { error: 'The photo is larger than 20 MB' })
    if (photo === 'tooSlow') throw badInput('the photo did not arrive in time')
    // known first: what was begun is deleted, too
    await keepPhoto(upload.name, clock.now())
    await blobs.put(upload.name, photo)
    return answer(context, 200)
  })

  app.options('/photos/:name', answerPreflight)
  app.get('/pictures/:name', (context) => picture(context))

  /**
   * Of what one target is sent one photo is looked at at a time, and none any more once one took too much. The one before is
   * hurried: who sends it again may have lost that connection.
   */
  async function taken(name: string, take: (hurry: AbortSignal) => ReturnType<PhotoIntake>): ReturnType<PhotoIntake> {
    const before = taking.get(name)
    const waited = new AbortController()
    before?.hurry()
    const own = (async () => {
      await before?.done.catch(() => undefined)
      if (spent.has(name)) throw new PhotoNotReadable()
      return take(waited.signal)
    })()
    taking.set(name, { done: own, hurry: () => waited.abort() })
    try {
      return await own
    } catch (error) {
      if (error instanceof PhotoTooCostly) {
        if (spent.size >= mostSpent) spent.clear()
        spent.add(name)
      }
      throw error
    } finally {
      if (taking.get(name)?.done === own) taking.delete(name)
    }
  }

  async function picture(context: Context<E>): Promise<Response> {
    const name = context.req.param('name') ?? ''
    const blob = await openIn(blobs, name, uploadsOf(context))
    if (blob === null) throw new ApiProblem(404, { error: 'Picture not found' })
    const [body, size] = 'body' in blob ? [blob.body, blob.size] : [blob.bytes, blob.bytes.length]
    const isHead = context.req.raw.method === 'HEAD'
    // nobody else says that it will not be read
    if (isHead && 'body' in blob) await blob.body.cancel()
    return answer(context, 200, isHead ? null : body, {
      'Content-Type': blob.type,
      'Content-Length': String(size),
      'Cache-Control': 'private, max-age=3600',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Cross-Origin-Resource-Policy': 'cross-origin',
    })
  }
}
