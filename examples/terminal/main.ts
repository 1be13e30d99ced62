import { writeFile } from 'node:fs/promises'
import { createFittingRoom, TryOnError, type TryOn } from 'fitting-room'
import { fileStorage } from 'fitting-room/storage/file'
import { memoryStorage } from 'fitting-room/storage/memory'
import { sandboxConfig } from '@fitting-room/service'
import { findSandbox, startSandbox } from '../shop/sandbox.ts'
import { exitCodeOf, exitCodes, isUsage } from './exit-codes.ts'
import { HelpWanted, readOptions, readPhotoFile, UsageError, type Options } from './options.ts'
import { showProgress } from './progress.ts'

interface Place {
  baseUrl: string
  apiKey: string
  close(): Promise<void>
}

/** The installation that was named, else the sandbox that runs, else one of our own. */
async function findPlace({ baseUrl }: Options): Promise<Place> {
  const close = async () => {}
  if (baseUrl !== null) {
    const apiKey = process.env['FITTING_ROOM_API_KEY']
    if (!apiKey) throw new UsageError('FITTING_ROOM_API_KEY must hold the key of --base-url')
    return { baseUrl, apiKey, close }
  }
  const running = await findSandbox()
  if (running) return { ...running, close }
  const own = await startSandbox()
  console.error(`started a sandbox of its own on ${own.baseUrl}; "npm start" keeps one running`)
  return { ...own, close: () => own.server.close() }
}

/** The product and funnels of a variant: as given, or as the sandbox has them. */
function productOf({ product, variant, funnels }: Options) {
  if (product !== null && funnels.length > 0) return { productId: product, variantId: variant, funnelIds: funnels }
  const [store] = sandboxConfig().stores
  const found = store?.products.find(({ variants }) => variants.some(({ id }) => id === variant))
  if (!store || !found) throw new UsageError(`the sandbox has no variant ${variant}`)
  const funnelIds = store.funnels.filter(({ productIds }) => productIds.includes(found.id)).map(({ id }) => id)
  return { productId: found.id, variantId: variant, funnelIds }
}

/** Starts what is not started, goes on with what is, and pays for a second picture only when told to. */
async function begin(tryOn: TryOn, { photo, email, again }: Options): Promise<void> {
  const { state, can } = await tryOn.ready
  const file = photo === null ? undefined : readPhotoFile(photo)
  const options = email === null ? {} : { customerEmail: email }
  if (again && can.retry) return tryOn.retry(file, options)
  if (state === 'needsEmail' && email !== null) return tryOn.submitEmail({ email })
  if (can.resume) return tryOn.resume()
  if (can.start && state === 'idle') return tryOn.start(file, options)
}

async function save(imageUrl: string, out: string): Promise<void> {
  const answer = await fetch(imageUrl)
  if (!answer.ok) throw new Error(`the picture could not be fetched (${answer.status})`)
  await writeFile(out, new Uint8Array(await answer.arrayBuffer()))
}

async function run(options: Options): Promise<number> {
  const product = productOf(options)
  const place = await findPlace(options)
  const storage = options.state === null ? memoryStorage() : fileStorage(options.state)
  const room = createFittingRoom({ baseUrl: place.baseUrl, apiKey: place.apiKey, storage })
  const tryOn = room.tryOn(product)
  const progress = showProgress(process.stderr)
  const told = tryOn.subscribe((view) => progress.show(view))
  try {
    await begin(tryOn, options)
    const result = await tryOn.result({ rejectOnInput: true })
    progress.end()
    await save(result.imageUrl, options.out).catch((error: Error) => {
      throw new UsageError(`${error.message}; the picture is at ${result.imageUrl}`)
    })
    console.log(options.out)
    return exitCodes.final
  } catch (error) {
    progress.end()
    if (!(error instanceof TryOnError)) throw error
    const { message } = tryOn.get()
    console.error(message === null ? error.message : `${message} (${error.message})`)
    return isUsage(error.problem) ? exitCodes.usage : exitCodeOf(tryOn.get().state)
  } finally {
    told.unsubscribe()
    room.close()
    await place.close()
  }
}

try {
  process.once('SIGINT', () => process.exit(exitCodes.interrupted))
  process.exitCode = await run(readOptions(process.argv.slice(2)))
} catch (error) {
  if (error instanceof HelpWanted) {
    console.log(error.message)
  } else if (error instanceof UsageError) {
    console.error(`${error.message}\n"npm run try-on -- --help" lists the options`)
    process.exitCode = exitCodes.usage
  } else {
    throw error
  }
}
