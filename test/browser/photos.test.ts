import { afterEach, describe, expect, inject, it, vi } from 'vitest'
import { openCamera, preparePhoto, type Camera, type StoredPhoto } from 'fitting-room/photos'
import { putPhoto } from '../../src/wire/put-photo.ts'
import { longPng, webp } from './odd-photos.ts'

const terms = { maxSide: 2_048, advice: true }
const secret = 'GPS of a home'

afterEach(() => vi.unstubAllGlobals())

/** A file of that type with a red top, a blue left of what is below, and a green right. */
async function flag(width: number, height: number, type: 'image/jpeg' | 'image/png'): Promise<ArrayBuffer> {
  const canvas = Object.assign(document.createElement('canvas'), { width, height })
  const context = canvas.getContext('2d')!
  for (const [colour, x, y] of [
    ['red', 0, 0],
    ['blue', 0, height / 2],
    ['lime', width / 2, height / 2],
  ] as const) {
    context.fillStyle = colour
    context.fillRect(x, y, width, height)
  }
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, 0.95))
  return blob!.arrayBuffer()
}

/** A JPEG as a phone writes it that was held sideways: turned by Exif's orientation, with a place in it. */
function sideways(jpeg: ArrayBuffer): StoredPhoto {
  const note = new TextEncoder().encode(secret)
  const entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0]
  const tiff = [...new TextEncoder().encode('Exif\0\0MM\0*'), 0, 0, 0, 8, 0, 1, ...entry, 0, 0, 0, 0, ...note]
  const length = tiff.length + 2
  const bytes = Uint8Array.of(0xff, 0xd8, 0xff, 0xe1, length >> 8, length & 255, ...tiff, ...new Uint8Array(jpeg, 2))
  return { bytes: bytes.buffer, type: 'image/jpeg' }
}

async function prepared(photo: StoredPhoto, maxSide = 2_048) {
  const made = await preparePhoto(photo, { ...terms, maxSide })
  if ('advice' in made) throw new Error(`advised against: ${made.advice}`)
  return made
}

/** What a picture shows at these parts of its width and height. */
async function colours(
  { bytes, type }: StoredPhoto,
  places: readonly (readonly [number, number])[],
): Promise<string[]> {
  const bitmap = await createImageBitmap(new Blob([bytes], { type }))
  const canvas = Object.assign(document.createElement('canvas'), { width: bitmap.width, height: bitmap.height })
  const context = canvas.getContext('2d')!
  context.drawImage(bitmap, 0, 0)
  return places.map(([x, y]) => {
    const { data } = context.getImageData(bitmap.width * x, bitmap.height * y, 1, 1)
    const [red = 0, green = 0, blue = 0] = [...data].map((value) => value > 127)
    return red && green && blue ? 'white' : red ? 'red' : green ? 'lime' : blue ? 'blue' : 'black'
  })
}

const corners = [
  [0.2, 0.2],
  [0.8, 0.2],
  [0.2, 0.8],
  [0.8, 0.8],
] as const
const textOf = (bytes: ArrayBuffer) => new TextDecoder('latin1').decode(bytes)

describe('a photo that is made ready', () => {
  it('is upright, a JPEG, and tells nothing of where it was taken, however small it is', async () => {
    const given = sideways(await flag(640, 480, 'image/jpeg'))
    expect(textOf(given.bytes)).toContain(secret)
    const { bytes, type, width, height, metadataKept } = await prepared(given)
    expect({ type, width, height, metadataKept }).toEqual({
      type: 'image/jpeg',
      width: 480,
      height: 640,
      metadataKept: false,
    })
    expect(textOf(bytes)).not.toContain(secret)
    expect(textOf(bytes)).not.toContain('Exif')
    // turned by a quarter to the right, what was on top is on the right
    expect(await colours({ bytes, type }, corners)).toEqual(['blue', 'red', 'lime', 'red'])
  })

  it('has its long side reduced to what is wanted, and is not enlarged', async () => {
    const large = { bytes: await flag(3_000, 1_500, 'image/png'), type: 'image/png' }
    const made = await prepared(large)
    expect([made.width, made.height]).toEqual([2_048, 1_024])
    expect(await colours(made, corners)).toEqual(['red', 'red', 'blue', 'lime'])
    const smaller = await prepared(large, 500)
    expect([smaller.width, smaller.height]).toEqual([500, 250])
    expect(await colours(smaller, corners)).toEqual(['red', 'red', 'blue', 'lime'])
    const small = await prepared({ bytes: await flag(300, 400, 'image/png'), type: 'image/png' })
    expect([small.width, small.height, small.type]).toEqual([300, 400, 'image/jpeg'])
  })

  it('has white where it could be seen through', async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 300, height: 300 })
    canvas.getContext('2d')!.fillRect(0, 0, 300, 150)
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
    const made = await prepared({ bytes: await blob!.arrayBuffer(), type: 'image/png' })
    expect(await colours(made, corners)).toEqual(['black', 'black', 'white', 'white'])
  })

  it('is advised against where almost nothing is to be seen on it', async () => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 300, height: 300 })
    const context = canvas.getContext('2d')!
    const shot = async (colour: string) => {
      context.fillStyle = colour
      context.fillRect(0, 0, 300, 300)
      const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
      return { bytes: await blob!.arrayBuffer(), type: 'image/png' }
    }
    expect(await preparePhoto(await shot('#080808'), terms)).toEqual({ advice: 'dark' })
    expect(await preparePhoto(await shot('#080808'), { ...terms, advice: false })).toMatchObject({ type: 'image/jpeg' })
    expect((await prepared(await shot('#808080'))).brightness).toBeCloseTo(0.5, 1)
  })

  it('is not drawn where it cannot be decoded, nor where its end is missing', async () => {
    const heic = new TextEncoder().encode('\0\0\0\x18ftypheic\0\0\0\0mif1heic and no picture').buffer
    expect(await prepared({ bytes: heic, type: 'image/heic' })).toMatchObject({ bytes: heic, metadataKept: true })
    for (const type of ['image/jpeg', 'image/png'] as const) {
      const bytes = (await flag(600, 600, type)).slice(0, -20)
      // nor is what is missing of it drawn as white
      expect(await prepared({ bytes, type })).toMatchObject({ type, width: 600, brightness: null, metadataKept: false })
    }
  })

  it('is drawn of a WebP that is whole, and of none that ends too soon', async () => {
    const type = 'image/webp'
    expect(await colours(await prepared({ bytes: webp(), type }), corners)).toEqual(['red', 'red', 'blue', 'lime'])
    for (const part of [0.95, 0.6]) {
      const bytes = webp().slice(0, webp().byteLength * part)
      expect(await prepared({ bytes, type })).toMatchObject({ bytes, type, brightness: null, metadataKept: true })
    }
  })

  it('is not drawn where it is longer than a canvas can be, which some browsers leave white', async () => {
    const made = await preparePhoto({ bytes: longPng(), type: 'image/png' }, { ...terms, advice: false })
    expect(made).toMatchObject({ type: 'image/png', height: 140_000, brightness: null, metadataKept: false })
  })

  it('is drawn in a worker, and in the page where there is none, or it fails', async () => {
    const photo = sideways(await flag(640, 480, 'image/jpeg'))
    const workers: unknown[] = []
    const Real = Worker
    const counting = class extends Real {
      constructor(address: string) {
        super(address)
        workers.push(address)
      }
    }
    vi.stubGlobal('Worker', counting)
    vi.stubGlobal('createImageBitmap', () => Promise.reject(new Error('drawn in the page')))
    expect(await prepared(photo)).toMatchObject({ width: 480, type: 'image/jpeg', metadataKept: false })
    expect(workers).toHaveLength(1)
    vi.unstubAllGlobals()

    vi.stubGlobal('Worker', undefined)
    expect(await prepared(photo)).toMatchObject({ width: 480, brightness: expect.any(Number) })
    vi.stubGlobal('Worker', function broken() {
      return new Real(URL.createObjectURL(new Blob(['this is no program'])))
    })
    expect(await prepared(photo)).toMatchObject({ width: 480, brightness: expect.any(Number) })
  })

  it('is drawn in the page where a worker never begins', async () => {
    const photo = sideways(await flag(640, 480, 'image/jpeg'))
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    vi.stubGlobal(
      'Worker',
      class {
        postMessage() {}
        terminate() {}
      },
    )
    const made = prepared(photo)
    vi.advanceTimersByTime(12_000)
    vi.useRealTimers()
    expect(await made).toMatchObject({ width: 480, metadataKept: false })
  })

  it('is drawn under a policy that forbids workers', async () => {
    const frame = document.createElement('iframe')
    const policy = `<meta http-equiv="Content-Security-Policy" content="worker-src 'none'">`
    const [photo] = [sideways(await flag(640, 480, 'image/jpeg'))]
    const told = new Promise<unknown>(
      (resolve) => (window.onmessage = ({ source, data }) => source === frame.contentWindow && resolve(data)),
    )
    frame.srcdoc = `${policy}<script type="module">
      import { preparePhoto } from '${new URL('/adapters/photos/index.ts', location.href).href}'
      onmessage = async ({ data }) => {
        const violated = []
        addEventListener('securitypolicyviolation', ({ effectiveDirective }) => violated.push(effectiveDirective))
        const { bytes, ...made } = await preparePhoto(data, { maxSide: 2048, advice: true })
        parent.postMessage({ ...made, violated })
      }
      parent.postMessage('ready')
    </script>`
    document.body.append(frame)
    expect(await told).toBe('ready')
    const done = new Promise<unknown>(
      (resolve) => (window.onmessage = ({ source, data }) => source === frame.contentWindow && resolve(data)),
    )
    frame.contentWindow?.postMessage(photo)
    const { violated, ...made } = (await done) as Record<string, unknown>
    expect(made).toMatchObject({ width: 480, height: 640, type: 'image/jpeg', metadataKept: false })
    // it was tried
    expect(violated).toEqual(['worker-src'])
    frame.remove()
  })

  it('goes as it is from a browser that gives noise for what was drawn, a JPEG without its metadata', async () => {
    vi.stubGlobal('Worker', undefined)
    const noise = vi
      .spyOn(OffscreenCanvasRenderingContext2D.prototype, 'getImageData')
      .mockImplementation((_x, _y, width, height) => new ImageData(width, height))
    const photo = sideways(await flag(640, 480, 'image/jpeg'))
    const made = await prepared(photo)
    noise.mockRestore()
    expect(made).toMatchObject({ type: 'image/jpeg', width: 480, height: 640, brightness: null, metadataKept: false })
    expect(textOf(made.bytes)).not.toContain(secret)
    expect(await colours(made, corners)).toEqual(['blue', 'red', 'lime', 'red'])
  })
})

describe('a camera in the page', () => {
  it('shows what it sees, takes a photo, and is switched off', async () => {
    const video = document.createElement('video')
    document.body.append(video)
    const camera = await openCamera(video)
    const stream = video.srcObject as MediaStream
    expect(stream.getVideoTracks().map(({ readyState }) => readyState)).toEqual(['live'])
    const photo = await camera.take()
    expect(photo.type).toBe('image/jpeg')
    const bytes = await photo.arrayBuffer()
    expect(textOf(bytes)).not.toContain('Exif')
    // the first picture of a made-up camera may be black
    const made = await preparePhoto({ bytes, type: photo.type }, { ...terms, advice: false })
    expect(made).toMatchObject({ width: expect.toSatisfy((px: number) => px > 199) })
    camera.close()
    expect(stream.getTracks().map(({ readyState }) => readyState)).toEqual(['ended'])
    expect(video.srcObject).toBe(null)
    await expect(camera.take()).rejects.toMatchObject({ problem: { kind: 'photo', reason: 'camera' } })
    video.remove()
  })

  it('that gives way to another in its place was only stopped, and is switched off', async () => {
    const streams: MediaStream[] = []
    const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)
    vi.spyOn(navigator.mediaDevices, 'getUserMedia').mockImplementation(async (wanted) => {
      const stream = await ask(wanted)
      streams.push(stream)
      return stream
    })
    const video = document.createElement('video')
    const first = openCamera(video).catch((error: unknown) => error)
    const camera = await openCamera(video)
    // an engine may have played it by then
    const replaced = await first
    if (replaced instanceof Error) expect(replaced).toMatchObject({ problem: { kind: 'stopped', reason: 'aborted' } })
    else (replaced as Camera).close()
    const live = streams.filter(({ active }) => active)
    expect(live).toEqual([video.srcObject])
    camera.close()
    vi.restoreAllMocks()
  })

  it('is switched off when the page is left', async () => {
    const video = document.createElement('video')
    await openCamera(video)
    const stream = video.srcObject as MediaStream
    dispatchEvent(new PageTransitionEvent('pagehide'))
    expect(stream.getTracks().map(({ readyState }) => readyState)).toEqual(['ended'])
  })

  it('that there is not, or that is not permitted, is a problem of its own', async () => {
    vi.spyOn(navigator.mediaDevices, 'getUserMedia').mockRejectedValueOnce(new DOMException('no', 'NotAllowedError'))
    const refused = openCamera(document.createElement('video'))
    await expect(refused).rejects.toMatchObject({
      problem: { kind: 'photo', reason: 'camera' },
      cause: { name: 'NotAllowedError' },
    })
    vi.restoreAllMocks()
  })
})

it('is not taken for sent where its target leads elsewhere', async () => {
  const photo = { bytes: new ArrayBuffer(3), type: 'image/png' } as const
  const put = (path: string) => putPhoto(inject('baseUrl') + path, photo, { signal: new AbortController().signal })
  expect([await put('/led'), await put('/arrived'), await put('/arrived#here')]).toEqual([307, 200, 200])
})
