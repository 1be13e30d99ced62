import { Hono, type Context } from 'hono'
import { answer, answerPreflight } from './answers.ts'
import { ApiProblem, badInput, notAllowed } from './api-problem.ts'
import type { BlobStore, Clock, PhotoIntake, Store } from './ports.ts'
import { photoLimits, type Uploads } from './uploads.ts'

export interface PhotoParts {
  blobs: BlobStore
  uploads: Uploads
  takePhoto: PhotoIntake
  keepPhoto: Store['keepPhoto']
  clock: Clock
}

/** Takes photos at their signed targets, and serves them and the pictures; none of it is the contract's, but its addresses are. */
export function addPhotoRoutes<E extends { Bindings: object }>(app: Hono<E>, parts: PhotoParts): void {
  const { blobs, uploads, takePhoto, keepPhoto, clock } = parts

  app.put('/photos/:name', async (context) => {
    const upload = uploads.verify(new URL(context.req.url), clock.now())
    if (upload === null) throw new ApiProblem(403, { error: 'Upload target is not valid or has expired' })
    const type = context.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()
    if (type !== upload.type) throw new ApiProblem(415, { error: `This upload target takes ${upload.type}` })
    const isTooLarge = Number(context.req.header('Content-Length')) > photoLimits.atMost
    const photo = isTooLarge ? 'tooLarge' : await takePhoto(context.req.raw, photoLimits)
    if (photo === 'tooLarge') throw new ApiProblem(413, { error: 'The photo is larger than 20 MB' })
    if (photo === 'tooSlow') throw badInput('the photo did not arrive in time')
    // known first: what was begun is deleted, too
    await keepPhoto(upload.name, clock.now())
    await blobs.put(upload.name, photo)
    return answer(context, 200)
  })

  app.options('/photos/:name', answerPreflight)
  app.get('/photos/:name', (context) => picture(context))
  app.get('/pictures/:name', (context) => picture(context))
  app.all('/photos/:name', () => {
    throw notAllowed('GET, PUT')
  })
  app.all('/pictures/:name', () => {
    throw notAllowed('GET')
  })

  async function picture(context: Context<E>): Promise<Response> {
    const blob = await blobs.get(context.req.param('name') ?? '')
    if (blob === null) throw new ApiProblem(404, { error: 'Picture not found' })
    return answer(context, 200, blob.bytes, {
      'Content-Type': blob.type,
      'Cache-Control': 'private, max-age=3600',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Cross-Origin-Resource-Policy': 'cross-origin',
    })
  }
}
