import sharp from 'sharp'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { FittingRoomOptions, PhotoInput, PreparedPhoto, PutPhoto, StoredPhoto, TryOn } from 'fitting-room'
import { createRoom } from 'fitting-room/core'
import { preparePhoto } from 'fitting-room/photos'
import { memoryStorage } from 'fitting-room/storage/memory'
import { deferred } from '../src/platform/deferred.ts'
import { isRead, isRecord, isWrite, refused, testStorage, type TestStorage } from './support/storage.ts'
import { reported } from './support/reported.ts'
import { createWorld, person, product, type World } from './support/world.ts'

const secret = 'taken at home'
const gps = { IFD0: { ImageDescription: secret }, IFD3: { GPSLatitude: '52/1 31/1 12/1' } }
const drawing = (width: number, height: number, background = '#4080c0') =>
  sharp({ create: { width, height, channels: 3, background } })
const jpeg = (width = 600, height = 800, orientation = 6) =>
  drawing(width, height).withExif(gps).withMetadata({ orientation }).jpeg().toBuffer()
const png = () => drawing(600, 800).withExif(gps).png().toBuffer()
const webp = () => drawing(600, 800).withExif(gps).webp().toBuffer()
const avif = () => drawing(600, 800).avif({ effort: 0 }).toBuffer()

const terms = { maxSide: 2_048, advice: true }
const stored = (bytes: Uint8Array, type: string): StoredPhoto => ({ bytes: new Uint8Array(bytes).buffer, type })
const textOf = (bytes: ArrayBuffer) => Buffer.from(bytes).toString('latin1')

const blobOf = async (bytes: Promise<Uint8Array> | Uint8Array) => new Blob([new Uint8Array(await bytes)])

/** Uploads as the world does, and notes what. */
const noting =
  (world: World, puts: StoredPhoto[]): PutPhoto =>
  (url, photo, given) => {
    puts.push(photo)
    return world.putPhoto(url, photo, given)
  }

/** Where nothing can be drawn, as on a server. */
async function prepared(bytes: Uint8Array, type: string) {
  const made = await preparePhoto(stored(bytes, type), terms)
  if ('advice' in made) throw new Error(`advised against: ${made.advice}`)
  return made
}

describe('a photo that cannot be drawn anew', () => {
  it('is, as a JPEG, the same picture with its orientation and nothing else', async () => {
    const given = await jpeg()
    expect(textOf(stored(given, '').bytes)).toContain(secret)
    const { bytes, metadataKept, ...told } = await prepared(given, 'image/jpeg')
    // it lies on its side
    expect(told).toEqual({ type: 'image/jpeg', width: 800, height: 600, brightness: null })
    expect(metadataKept).toBe(false)
    expect(textOf(bytes)).not.toContain(secret)
    const [before, after] = [sharp(given), sharp(bytes)]
    expect((await after.metadata()).orientation).toBe(6)
    expect(await after.raw().toBuffer()).toEqual(await before.raw().toBuffer())
  })

  it('of eight orientations keeps each, and drops what is appended to the picture', async () => {
    for (const orientation of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const given = Buffer.concat([await jpeg(300, 400, orientation), Buffer.from(secret)])
      const { bytes, width } = await prepared(given, 'image/jpeg')
      expect([orientation, (await sharp(bytes).metadata()).orientation ?? 1]).toEqual([orientation, orientation])
      expect([orientation, width]).toEqual([orientation, orientation > 4 ? 400 : 300])
      expect(textOf(bytes)).not.toContain(secret)
    }
  })

  it('keeps the colour profile and reads progressive files', async () => {
    const given = await drawing(600, 800).withExif(gps).withIccProfile('p3').jpeg({ progressive: true }).toBuffer()
    const { bytes, width } = await prepared(given, 'image/jpeg')
    expect(width).toBe(600)
    expect((await sharp(bytes).metadata()).icc).toEqual((await sharp(given).metadata()).icc)
    expect(textOf(bytes)).not.toContain(secret)
  })

  it('loses what nobody knows the meaning of, too', async () => {
    const note = Buffer.from(secret)
    const part = (marker: number, content: Buffer) =>
      Buffer.concat([Buffer.from([0xff, marker, 0, content.length + 2]), content])
    const given = await jpeg()
    const notes = [
      part(0xe0, Buffer.concat([Buffer.from('JFXX\0'), note])),
      part(0xe0, Buffer.from(`${secret} `)),
      part(0xf7, note),
      part(0xfe, note),
      part(0xed, note),
    ]
    const noted = await prepared(Buffer.concat([given.subarray(0, 2), ...notes, given.subarray(2)]), 'image/jpeg')
    expect(textOf(noted.bytes)).not.toContain(secret)
    expect(await sharp(noted.bytes).raw().toBuffer()).toEqual(await sharp(given).raw().toBuffer())

    const plain = await drawing(600, 800).png().toBuffer()
    const chunk = Buffer.concat([Buffer.from([0, 0, 0, note.length]), Buffer.from('caBX'), note, Buffer.alloc(4)])
    const at = plain.indexOf('IDAT') - 4
    const chunked = await prepared(Buffer.concat([plain.subarray(0, at), chunk, plain.subarray(at)]), 'image/png')
    expect(textOf(chunked.bytes)).not.toContain(secret)
    expect(await sharp(chunked.bytes).raw().toBuffer()).toEqual(await sharp(plain).raw().toBuffer())
  })

  it('is, as a PNG, the same picture without its texts', async () => {
    const given = await png()
    expect(textOf(stored(given, '').bytes)).toContain(secret)
    const { bytes, ...told } = await prepared(given, 'image/png')
    expect(told).toEqual({ type: 'image/png', width: 600, height: 800, brightness: null, metadataKept: false })
    expect(textOf(bytes)).not.toContain(secret)
    expect(await sharp(bytes).raw().toBuffer()).toEqual(await sharp(given).raw().toBuffer())
  })

  it.each([
    ['image/webp', webp],
    ['image/avif', avif],
  ])('is, as %s, as it was, and says so', async (type, made) => {
    const given = await made()
    const { bytes, ...told } = await prepared(given, type)
    expect(told).toEqual({ type, width: 600, height: 800, brightness: null, metadataKept: true })
    expect(Buffer.from(bytes)).toEqual(given)
  })

  it('of each form of WebP tells the size', async () => {
    const forms = [
      drawing(640, 300).webp({ lossless: true }),
      drawing(640, 300).webp(),
      drawing(640, 300).withExif(gps).webp(),
    ]
    for (const form of forms) {
      const { width, height } = await prepared(await form.toBuffer(), 'image/webp')
      expect({ width, height }).toEqual({ width: 640, height: 300 })
    }
  })

  it('is read over the bytes that may fill the way to a marker, and left as it is where there is no picture in it', async () => {
    const given = await jpeg()
    for (const marker of [0xe1, 0xdb, 0xc0, 0xc4, 0xda]) {
      const at = given.indexOf(Buffer.from([0xff, marker]))
      const filled = Buffer.concat([given.subarray(0, at), Buffer.from([0xff, 0xff]), given.subarray(at)])
      const { bytes, metadataKept } = await prepared(filled, 'image/jpeg')
      expect([marker, metadataKept, textOf(bytes).includes(secret)]).toEqual([marker, false, false])
      expect(await sharp(bytes).raw().toBuffer()).toEqual(await sharp(given).raw().toBuffer())
    }
    const scan = given.indexOf(Buffer.from([0xff, 0xda]))
    const { bytes, metadataKept } = await prepared(given.subarray(0, scan), 'image/jpeg')
    expect([metadataKept, bytes.byteLength]).toEqual([true, scan])
  })

  it('cut anywhere keeps no metadata without saying so', async () => {
    let cleaned = 0
    for (const [type, whole] of [
      ['image/jpeg', await jpeg()],
      ['image/png', await png()],
    ] as const) {
      for (let length = 1; length < whole.length - 2; length += Math.ceil(whole.length / 60)) {
        const made = await preparePhoto(stored(whole.subarray(0, length), type), { ...terms, advice: false })
        if ('advice' in made) throw new Error('there was to be no advice')
        if (made.metadataKept) expect(made.bytes.byteLength).toBe(length)
        else expect([++cleaned, textOf(made.bytes).includes(secret)]).toEqual([cleaned, false])
      }
    }
    expect(cleaned).toBeGreaterThan(60)
  })

  it('with bytes between its parts, and of two orientations, is read as everybody reads it', async () => {
    const given = await jpeg(300, 400, 6)
    const other = await jpeg(300, 400, 3)
    const exif = other.subarray(other.indexOf('Exif') - 4)
    const second = exif.subarray(0, 2 + exif.readUInt16BE(2))
    const at = 2 + given.subarray(2).indexOf(Buffer.from([0xff, 0xdb]))
    const stray = Buffer.from([0, 7, 0xff, 0x01])
    const odd = Buffer.concat([given.subarray(0, at), stray, second, given.subarray(at)])
    const { bytes, width, metadataKept } = await prepared(odd, 'image/jpeg')
    expect([width, metadataKept, (await sharp(bytes).metadata()).orientation]).toEqual([400, false, 6])
    expect(textOf(bytes)).not.toContain(secret)
    expect(await sharp(bytes).raw().toBuffer()).toEqual(await sharp(given).raw().toBuffer())
  })

  it('is advised against by its header alone: too small, or too narrow', async () => {
    const advised = async (width: number, height: number) => {
      const made = await preparePhoto(stored(await drawing(width, height).png().toBuffer(), 'image/png'), terms)
      return 'advice' in made ? made.advice : null
    }
    expect(await advised(199, 900)).toBe('small')
    expect(await advised(900, 199)).toBe('small')
    expect(await advised(200, 800)).toBe(null)
    expect(await advised(200, 801)).toBe('narrow')
    expect(await advised(801, 200)).toBe('narrow')
  })
})

describe('a room', () => {
  let world: World
  let puts: StoredPhoto[]
  beforeEach(() => {
    world = createWorld()
    puts = []
  })
  afterEach(() => world.close())

  function open(options: Partial<FittingRoomOptions> = {}): TryOn {
    const tryOn = world.door({ putPhoto: noting(world, puts), ...options }).tryOn(product)
    tryOn.subscribe(() => {})
    return tryOn
  }

  it('uploads what was made ready, and keeps nothing else', async () => {
    const storage = memoryStorage()
    const kept: StoredPhoto[] = []
    const photoStore = {
      get: () => kept.at(-1),
      set: (_key: string, photo: StoredPhoto) => kept.push(photo),
      remove() {},
    }
    const tryOn = open({ storage, photoStore })
    await tryOn.start(await blobOf(jpeg()))
    await world.until(tryOn, 'final')
    expect(tryOn.get().metadataKept).toBe(false)
    for (const { bytes } of [...puts, ...kept]) expect(textOf(bytes)).not.toContain(secret)
    expect([puts.length, kept.length]).toEqual([1, 1])
  })

  it('says so in every view where the photo went as it is, after a reload and with the same photo again, too', async () => {
    const storage = memoryStorage()
    const tryOn = open({ storage })
    const photo = await webp()
    const seen = new Set<string>()
    tryOn.subscribe((view) => seen.add(`${view.state} ${view.metadataKept}`))
    await tryOn.start(await blobOf(photo))
    await world.until(tryOn, 'final')
    expect(Buffer.from(puts[0]!.bytes)).toEqual(photo)
    for (const state of ['submitting', 'processing', 'preview', 'final']) expect(seen).toContain(`${state} true`)
    const reloaded = open({ storage })
    expect((await world.until(reloaded, 'final')).metadataKept).toBe(true)
    await reloaded.retry()
    expect((await world.until(reloaded, (view) => view.state === 'processing')).metadataKept).toBe(true)
    expect(puts).toHaveLength(1)
  })

  it('takes photos as they are where it is told to', async () => {
    const tryOn = open({ photos: false })
    const photo = await jpeg()
    await tryOn.start(await blobOf(photo))
    await world.until(tryOn, 'final')
    expect(Buffer.from(puts[0]!.bytes)).toEqual(photo)
    expect(tryOn.get().metadataKept).toBe(true)
  })

  it('uploads nothing where the code for it cannot be loaded, says so, and tries again', async () => {
    let loads = 0
    const load = async () => {
      if (++loads === 1) throw new TypeError('Failed to fetch dynamically imported module')
      return { preparePhoto }
    }
    const tryOn = open({ photos: { load } })
    const problem = { kind: 'photo', reason: 'unprepared' }
    await expect(tryOn.start(person)).rejects.toMatchObject({ problem })
    expect(tryOn.get()).toMatchObject({ state: 'idle', problem, attempt: null })
    expect(world.sent.filter(({ method }) => method !== 'GET')).toEqual([])
    expect(puts).toEqual([])
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    expect(loads).toBe(2)
  })

  it('gives up on code that hangs, and on code that breaks', async () => {
    const hanging = open({ photos: { load: () => new Promise(() => {}) } })
    const started = hanging.start(person)
    await world.pass(61_000)
    await expect(started).rejects.toMatchObject({ problem: { kind: 'photo', reason: 'unprepared' } })
    const load = async () => ({ preparePhoto: () => Promise.reject(new Error('broken')) })
    const breaking = open({ photos: { load }, namespace: 'other' })
    await expect(breaking.start(person)).rejects.toMatchObject({ problem: { kind: 'photo', reason: 'unreadable' } })
    expect(world.sent.filter(({ method }) => method !== 'GET')).toEqual([])
  })

  it('advises against a photo before anything is sent, and takes it where the shopper wants it all the same', async () => {
    const small = await blobOf(drawing(100, 100).png().toBuffer())
    const tryOn = open()
    const problem = { kind: 'photoAdvice', advice: 'small' }
    await expect(tryOn.start(small)).rejects.toMatchObject({ problem })
    expect(tryOn.get()).toMatchObject({ state: 'idle', problem })
    expect(world.sent).toEqual([])
    await tryOn.start(small, { despiteAdvice: true })
    expect((await world.until(tryOn, 'final')).problem).toBe(null)
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('takes no other word for the shopper’s wish than true', async () => {
    const tryOn = open()
    await expect(tryOn.start(person, { despiteAdvice: 'yes' as never })).rejects.toMatchObject({ kind: 'input' })
    expect(world.sent).toEqual([])
  })

  it('advises against nothing where it is told not to', async () => {
    const tryOn = open({ photos: { advice: false } })
    await tryOn.start(await blobOf(drawing(100, 100).png().toBuffer()))
    await world.until(tryOn, 'final')
  })

  it('asks the application’s own check, of what will be sent', async () => {
    const checkPhoto = vi.fn((photo: { width: number | null }) => (photo.width === 600 ? 'Please stand upright' : null))
    const tryOn = open({ checkPhoto })
    const photo = await blobOf(png())
    const problem = { kind: 'photoAdvice', advice: 'own', message: 'Please stand upright' }
    await expect(tryOn.start(photo)).rejects.toMatchObject({ problem })
    expect(checkPhoto).toHaveBeenCalledWith(
      expect.objectContaining({ type: 'image/png', width: 600, metadataKept: false }),
    )
    await tryOn.start(photo, { despiteAdvice: true })
    await world.until(tryOn, 'final')
    expect(checkPhoto).toHaveBeenCalledTimes(1)
  })

  it('takes a photo whose check breaks, and reports that', async () => {
    const { told, end } = reported()
    const tryOn = open({ checkPhoto: () => Promise.reject(new Error('the check broke')) })
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    await vi.waitFor(() => expect(told).toEqual([new Error('the check broke')]), { timeout: 15_000 })
    end()
  })

  it('takes bytes where there are no files, and a part of a buffer', async () => {
    const photo = await png()
    const inputs: PhotoInput[] = [{ bytes: new Uint8Array(photo).buffer }, { bytes: photo, type: 'image/whatever' }]
    for (const [index, input] of inputs.entries()) {
      const tryOn = open({ namespace: `bytes-${index}` })
      await tryOn.start(input)
      await world.until(tryOn, 'final')
      expect(puts[index]?.type).toBe('image/png')
      expect(await sharp(puts[index]!.bytes).raw().toBuffer()).toEqual(await sharp(photo).raw().toBuffer())
    }
  })

  it.each([
    ['image/heic', 'heic', ''],
    ['image/heic', 'mif1', 'heicmif1'],
    ['image/heif', 'mif1', 'mif1miaf'],
    ['image/avif', 'avif', ''],
    ['image/avif', 'mif1', 'mif1avifmiaf'],
  ])('reads %s from the bytes of a file whose type is empty: %s %s', async (type, brand, others) => {
    const box = Buffer.concat([
      Buffer.from([0, 0, 0, 16 + others.length]),
      Buffer.from(`ftyp${brand}\0\0\0\0${others}`),
    ])
    const tryOn = open()
    await tryOn.start(new File([box], 'photo', { type: '' }))
    await world.until(tryOn, ({ state }) => state !== 'preparing')
    expect(puts[0]?.type).toBe(type)
    expect(tryOn.get().metadataKept).toBe(true)
  })
})

describe('while a photo is made ready', () => {
  let world: World
  let puts: StoredPhoto[]
  beforeEach(() => {
    world = createWorld()
    puts = []
  })
  afterEach(() => world.close())

  /** A room whose photos wait to be made ready until a test says so, one by one. */
  function open(options: Partial<FittingRoomOptions> = {}) {
    const waiting: (() => void)[] = []
    const held: typeof preparePhoto = async (photo, given) => {
      await new Promise<void>((resolve) => void waiting.push(resolve))
      return preparePhoto(photo, given)
    }
    const photos = { load: async () => ({ preparePhoto: held }) }
    const room = world.door({ photos, putPhoto: noting(world, puts), ...options })
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    return { room, tryOn, waiting }
  }
  const photoOf = async (colour: string) => new Blob([new Uint8Array(await drawing(300, 300, colour).png().toBuffer())])
  const left = { problem: { kind: 'stopped', reason: 'startedOver' } }

  it.each([
    ['startOver', 'at once'],
    ['startOver', 'with the core there'],
    ['discard', 'at once'],
    ['discard', 'with the core there'],
  ] as const)('it is preparing, and %s leaves it, %s', async (intent, when) => {
    const { room, tryOn, waiting } = open()
    if (when === 'with the core there') await room.ready
    const started = tryOn.start(await photoOf('red'))
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    expect(tryOn.get()).toMatchObject({ state: 'preparing', can: { start: true, startOver: true, discard: true } })
    await tryOn[intent]()
    await expect(started).rejects.toMatchObject(left)
    expect(tryOn.get()).toMatchObject({ state: 'idle', problem: null })
    for (const go of waiting) go()
    await world.pass(5_000)
    expect([room.photo.get(), world.sent]).toEqual([null, []])
  })

  it.each(['first', 'second'])('a later photo takes its place, also where the %s is ready first', async (ready) => {
    const { tryOn, waiting } = open()
    const first = tryOn.start(await photoOf('red'))
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    const second = tryOn.start(await photoOf('blue'))
    await expect(first).rejects.toMatchObject(left)
    await vi.waitFor(() => expect(waiting).toHaveLength(2))
    for (const go of ready === 'first' ? waiting : waiting.toReversed()) {
      go()
      await world.settle()
    }
    await second
    await world.until(tryOn, 'final')
    expect(puts).toHaveLength(1)
    const { dominant } = await sharp(puts[0]!.bytes).stats()
    expect(dominant.b).toBeGreaterThan(dominant.r)
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it.each(['while the core is loaded', 'while storage is written'])(
    'of two at once the later one wins, %s',
    async (when) => {
      const storage = testStorage()
      const { room, tryOn, waiting } = open({ core: async () => ({ createRoom }), storage })
      const [red, blue] = [await photoOf('red'), await photoOf('blue')]
      const write = storage.hold((call) => isRecord(call) && isWrite(call))
      if (when === 'while storage is written') {
        await room.ready
        void tryOn.start({ imageUrl: 'https://photos.test/me.png' })
        await write.reached
      }
      const first = tryOn.start(red)
      const second = tryOn.start(blue)
      const isLeft = expect(first).rejects.toMatchObject(left)
      await world.settle()
      write.release()
      await vi.waitFor(() => {
        for (const go of waiting.splice(0)) go()
        expect(tryOn.get().attempt).not.toBe(null)
      })
      await Promise.all([isLeft, second])
      await world.until(tryOn, 'final')
      expect([puts.length, world.count('POST', '/generations')]).toEqual([1, 1])
      const { dominant } = await sharp(puts[0]!.bytes).stats()
      expect(dominant.b).toBeGreaterThan(dominant.r)
    },
  )

  it('nothing is sent with the photo before, which was being uploaded', async () => {
    const { tryOn, waiting } = open()
    const put = world.hold('PUT', '/photos')
    const first = tryOn.start(await photoOf('red'))
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    waiting[0]?.()
    await first
    await put.reached
    const second = tryOn.start(await photoOf('blue'))
    await vi.waitFor(() => expect(waiting).toHaveLength(2))
    put.release()
    await world.pass(20_000)
    expect([tryOn.get().state, world.count('POST', '/generations')]).toEqual(['preparing', 0])
    waiting[1]?.()
    await second
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
    const { dominant } = await sharp(puts.at(-1)!.bytes).stats()
    expect(dominant.b).toBeGreaterThan(dominant.r)
  })

  it('what speaks against a photo that was left is said of no other', async () => {
    const { tryOn, waiting } = open({ checkPhoto: ({ width }) => (width === 300 ? 'Please stand upright' : null) })
    const first = tryOn.start(await photoOf('red'))
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    const second = tryOn.start({ imageUrl: 'https://photos.test/me.png' })
    await expect(first).rejects.toMatchObject(left)
    await second
    waiting[0]?.()
    await world.until(tryOn, 'processing')
    expect(tryOn.get().problem).toBe(null)
  })

  it('a retry that fails leaves what stood', async () => {
    const { tryOn, waiting } = open()
    const first = tryOn.start(await photoOf('red'))
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    waiting[0]?.()
    await first
    const { attempt } = await world.until(tryOn, 'final')
    const again = tryOn.retry(new Blob([new Uint8Array(await drawing(50, 50).png().toBuffer())]))
    await vi.waitFor(() => expect(waiting).toHaveLength(2))
    expect(tryOn.get().state).toBe('preparing')
    waiting[1]?.()
    await expect(again).rejects.toMatchObject({ kind: 'photoAdvice' })
    expect(tryOn.get()).toMatchObject({ state: 'final', attempt, problem: { kind: 'photoAdvice', advice: 'small' } })
  })

  it('the photo is the one that was given, whatever becomes of its buffer, and of what a check gets', async () => {
    const given = new Uint8Array(await webp())
    const before = Buffer.from(given)
    const checkPhoto = (photo: { bytes: ArrayBuffer; metadataKept: boolean }) => {
      photo.metadataKept = false
      structuredClone(photo.bytes, { transfer: [photo.bytes] })
      return null
    }
    const { tryOn, waiting } = open({ checkPhoto })
    const started = tryOn.start({ bytes: given.buffer })
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    given.fill(0)
    waiting[0]?.()
    await started
    await world.until(tryOn, 'final')
    expect(Buffer.from(puts[0]!.bytes)).toEqual(before)
    expect(tryOn.get().metadataKept).toBe(true)
  })

  it.each(['core', 'door'])('the photo is the one that was there when the word was given, in the %s', async (kind) => {
    const options = { putPhoto: noting(world, puts) }
    const tryOn = (kind === 'core' ? world.room(options) : world.door(options)).tryOn(product)
    const given = new Uint8Array(await png())
    const red = Buffer.from(given)
    const word = tryOn.start({ bytes: given })
    given.fill(0)
    await word
    await world.until(tryOn, 'final')
    expect(await sharp(puts[0]!.bytes).raw().toBuffer()).toEqual(await sharp(red).raw().toBuffer())
  })

  it('of a key that comes back nothing goes on that is to be replaced', async () => {
    const apiKey = vi.fn(() => 'wrong')
    const { tryOn, waiting } = open({ apiKey })
    const first = tryOn.start(await photoOf('red'))
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    waiting[0]?.()
    await first
    await world.until(tryOn, 'unauthorized')
    await world.pass(45_000)
    apiKey.mockReturnValue(world.apiKey.current)
    const second = tryOn.retry(await photoOf('blue'))
    await vi.waitFor(() => expect(waiting).toHaveLength(2))
    // the key is looked at once a minute
    await world.pass(20_000)
    expect([tryOn.get().state, world.count('POST', '/generations')]).toEqual(['preparing', 0])
    waiting[1]?.()
    await second
    await world.until(tryOn, 'final')
    const { dominant } = await sharp(puts.at(-1)!.bytes).stats()
    expect([world.count('POST', '/generations'), dominant.b > dominant.r]).toEqual([1, true])
  })

  it('the room’s photo is the one that was given last, however slowly another one is kept', async () => {
    const [slow, quick] = [deferred(), deferred()]
    const stores = [slow, quick]
    const kept = new Map<string, StoredPhoto>()
    const photoStore = {
      get: (key: string) => kept.get(key),
      async set(key: string, photo: StoredPhoto) {
        kept.set(key, photo)
        await stores.shift()?.promise
      },
      remove: (key: string) => void kept.delete(key),
    }
    const { room, tryOn, waiting } = open({ photoStore })
    const [red, blue] = [await photoOf('red'), await photoOf('blue')]
    const first = expect(tryOn.start(red)).rejects.toMatchObject(left)
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    waiting[0]?.()
    await vi.waitFor(() => expect(stores).toHaveLength(1))
    const second = tryOn.start(blue)
    await vi.waitFor(() => expect(waiting).toHaveLength(2))
    waiting[1]?.()
    await vi.waitFor(() => expect(stores).toHaveLength(0))
    quick.resolve()
    await Promise.all([first, second])
    const { id } = room.photo.get() ?? {}
    slow.resolve()
    await world.until(tryOn, 'final')
    expect([room.photo.get()?.id, kept.size]).toEqual([id, 0])
  })

  it('a word that is refused shows nothing, and what is in hand stays there', async () => {
    const { tryOn, waiting } = open()
    const first = tryOn.start(await photoOf('red'))
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    waiting[0]?.()
    await first
    await world.until(tryOn, 'final')
    const seen: string[] = []
    tryOn.subscribe(({ state }) => seen.push(state))
    const notAllowed = { kind: 'notAllowed' }
    await expect(tryOn.start(await photoOf('green'))).rejects.toMatchObject(notAllowed)
    expect(seen).not.toContain('preparing')
    const again = tryOn.retry(await photoOf('blue'))
    await vi.waitFor(() => expect(waiting).toHaveLength(2))
    expect(tryOn.get()).toMatchObject({ state: 'preparing', can: { start: false, retry: true, startOver: true } })
    await expect(tryOn.start(await photoOf('green'))).rejects.toMatchObject(notAllowed)
    waiting[1]?.()
    await again
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(2)
  })

  it('a photo that an earlier version has kept is made ready before it is uploaded', async () => {
    const storage = memoryStorage()
    const kept = new Map<string, StoredPhoto>()
    const photoStore = {
      get(key: string) {
        const { bytes, type } = kept.get(key) ?? {}
        return bytes && type ? { bytes, type } : undefined
      },
      set: (key: string, photo: StoredPhoto) => void kept.set(key, photo),
      remove: (key: string) => void kept.delete(key),
    }
    const disk = { ...storage, durable: true, photos: undefined }
    const target = world.hold('POST', '/uploads')
    const before = world.room({ storage: disk, photoStore, photos: false })
    await before.tryOn(product).start(await blobOf(jpeg()))
    await target.reached
    before.close()
    const tryOn = world.room({ storage: disk, photoStore, putPhoto: noting(world, puts) }).tryOn(product)
    tryOn.subscribe(() => {})
    await world.until(tryOn, 'final')
    expect(puts.map(({ bytes }) => textOf(bytes).includes(secret))).toEqual([false])
  })

  describe('that was uploaded by a page which ended before its try-on knew', () => {
    const isPhoto = ({ key }: { key: string }) => key.endsWith(':photo')

    async function uploadedOn(storage: TestStorage): Promise<World> {
      const own = createWorld({ storage })
      onTestFinished(() => own.close())
      const funnel = own.hold('GET', '/funnel')
      const put = own.hold('PUT', '/photos', 'after')
      const before = own.room()
      await before.tryOn(product).start(person)
      await Promise.all([funnel.reached, put.reached])
      put.release()
      await own.settle()
      before.close()
      funnel.release()
      await own.settle()
      return own
    }

    it('is found where it is, though that could not be read at first', async () => {
      const storage = testStorage()
      const own = await uploadedOn(storage)
      let reads = 0
      storage.meet((call) => isRead(call) && isPhoto(call) && ++reads <= 3, refused)
      const tryOn = own.room().tryOn(product)
      tryOn.subscribe(() => {})
      await own.until(tryOn, 'final')
      expect([reads > 3, own.count('PUT', '/photos')]).toEqual([true, 1])
    })

    it('is uploaded once more where storage did not take where it is', async () => {
      const storage = testStorage()
      storage.meet(
        (call) => isWrite(call) && isPhoto(call) && (call.change?.() ?? '').includes('"imageUrl":"http'),
        refused,
      )
      const own = await uploadedOn(storage)
      storage.recover()
      const tryOn = own.room().tryOn(product)
      tryOn.subscribe(() => {})
      await own.until(tryOn, 'final')
      expect([own.count('PUT', '/photos'), own.count('POST', '/generations')]).toEqual([2, 1])
    })
  })

  it.each(['load', 'preparePhoto'])('what gives nothing is told as what it is: %s', async (what) => {
    const load = async () => (what === 'load' ? undefined : { preparePhoto: async () => undefined }) as never
    const { tryOn } = open({ photos: { load } })
    await expect(tryOn.start(person)).rejects.toMatchObject({ problem: { kind: 'photo', reason: 'unreadable' } })
    expect(tryOn.get().problem).toMatchObject({ kind: 'photo' })
  })

  it('a file of another frame is one, and no text of a check is no advice', async () => {
    const bytes = new Uint8Array(await png()).buffer
    const file = { size: bytes.byteLength, type: '', arrayBuffer: async () => bytes } as Blob
    const { tryOn, waiting } = open({ checkPhoto: () => '' })
    const started = tryOn.start(file)
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    waiting[0]?.()
    await started
    await world.until(tryOn, 'final')
  })

  /** Photo code that gives something else. */
  const made = (what: object) => {
    const preparePhoto = async (photo: StoredPhoto) => ({ ...photo, ...what }) as PreparedPhoto
    return { photos: { load: async () => ({ preparePhoto }) } }
  }
  it.each([
    ['load', { photos: { load: () => { throw new Error('boom') } } }, 'unprepared'], // prettier-ignore
    ['a module without it', { photos: { load: async () => ({}) as never } }, 'unreadable'],
    ['a text in place of bytes', made({ bytes: 'bytes' }), 'unreadable'],
    ['no bytes', made({ bytes: null }), 'unreadable'],
    ['empty bytes', made({ bytes: new ArrayBuffer() }), 'unreadable'],
    ['a type that the service does not take', made({ type: 'image/gif' }), 'unreadable'],
  ] as const)('what breaks at once is told as what it is: %s', async (_, options, reason) => {
    const { tryOn } = open(options)
    await expect(tryOn.start(person)).rejects.toMatchObject({ problem: { kind: 'photo', reason } })
    await expect(tryOn.start('me.png' as never)).rejects.toMatchObject({ problem: { kind: 'photo', reason: 'url' } })
  })
})
