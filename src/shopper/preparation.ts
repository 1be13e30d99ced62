import { imageType } from '../contract/resources.ts'
import { askWithin } from '../platform/clock.ts'
import { report } from '../platform/guarded.ts'
import { ownBytes } from '../platform/own-bytes.ts'
import type { Clock, MaybePromise, PhotoAdvice, PreparedPhoto, PreparePhoto, StoredPhoto } from '../ports.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import { refusePhoto } from './photo-input.ts'

/** How a photo is made ready on the device: upright, a JPEG without metadata, no larger than it has to be. */
export interface PhotoOptions {
  /** The long side to which larger photos are reduced, in px. Default: 2,048. */
  maxSide?: number | undefined
  /** Whether photos that are too small, too narrow or almost black are refused with `photoAdvice`. Default: true. */
  advice?: boolean | undefined
  /** Loads the code for it in place of the library's own `import()`, as in `() => import('fitting-room/photos')`. */
  load?: (() => PromiseLike<{ preparePhoto: PreparePhoto }>) | undefined
}

/** How an application may change that. */
export interface PreparationOptions {
  /** How photos are made ready before they are kept and uploaded; false takes them as they are. */
  photos?: PhotoOptions | false | undefined
  /** The application's own check of a photo: a text for the shopper advises against it (`photoAdvice`), null not. */
  checkPhoto?: ((photo: PreparedPhoto) => MaybePromise<string | null>) | undefined
}

/** How long loading the code for it, making a photo ready, and the application's look at it may take, in ms each. */
const prepareLimitMs = 30_000

/** Makes a photo ready to leave the device; throws `TryOnError` of kind `photo`, or `photoAdvice` unless that is not wanted. */
export type Prepare = (photo: StoredPhoto, despiteAdvice: boolean) => Promise<PreparedPhoto>

interface Preparation {
  prepare: Prepare
  /** Loads the code for it before it is needed. */
  preload(): Promise<void>
}

export function createPreparation({ photos = {}, checkPhoto }: PreparationOptions, clock: Clock): Preparation {
  const bounded = <T>(work: () => MaybePromise<T>) => askWithin(clock, prepareLimitMs, work)

  /** Never the original in place of what could not be made of it. */
  const loaded = ({ load = () => import('../../adapters/photos/prepare.ts') }: PhotoOptions) =>
    bounded(load).catch((cause: unknown) => refusePhoto('unprepared', cause))

  async function prepared(photo: StoredPhoto, isAdvised: boolean, options: PhotoOptions): Promise<PreparedPhoto> {
    const code = await loaded(options)
    const { maxSide = 2_048, advice = true } = options
    const terms = { maxSide, advice: advice && isAdvised }
    const made = await bounded(async () => checked(await code.preparePhoto(photo, terms))).catch((cause: unknown) =>
      refusePhoto('unreadable', cause),
    )
    if ('advice' in made) throw new TryOnError({ kind: 'photoAdvice', advice: made.advice })
    return made
  }

  async function prepare(photo: StoredPhoto, despiteAdvice: boolean): Promise<PreparedPhoto> {
    const ready = photos ? await prepared(photo, !despiteAdvice, photos) : asItIs(photo)
    if (!checkPhoto || despiteAdvice) return ready
    // a check that breaks is no advice, and what it does to its copy changes nothing
    const message = await bounded(() => checkPhoto({ ...ready, bytes: ready.bytes.slice(0) })).catch(report)
    if (typeof message === 'string' && message !== '')
      throw new TryOnError({ kind: 'photoAdvice', advice: 'own', message })
    return ready
  }

  return {
    prepare,
    async preload() {
      if (photos) await loaded(photos)
    },
  }
}

/** What an application's own code gives may be anything, and its buffer may be used again. */
function checked<T extends PreparedPhoto | { advice: PhotoAdvice }>(made: T): T {
  if ('advice' in made) return made
  const bytes = ownBytes(made.bytes)
  if (!bytes?.byteLength || !imageType.safeParse(made.type).success) throw new TypeError('preparePhoto() gave no photo')
  return { ...made, bytes }
}

const asItIs = (photo: StoredPhoto): PreparedPhoto => ({
  ...photo,
  width: null,
  height: null,
  brightness: null,
  metadataKept: true,
})
