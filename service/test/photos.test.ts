import { execFile } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { subscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { createServer, getDefaultAutoSelectFamilyAttemptTimeout, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect, promisify } from 'node:util'
import { crc32 } from 'node:zlib'
import { createService, parseConfig } from '@fitting-room/service'
import sharp from 'sharp'
import { afterAll, describe, expect, it, vi, onTestFinished } from 'vitest'
import { deferred } from '../../src/platform/deferred.ts'
import { standStill } from '../../test/support/stand-still.ts'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { cleaned } from '../src/drawing/cleaned.ts'
import { openDrawing } from '../src/drawing/drawing-pool.ts'
import { render } from '../src/drawing/renderer.ts'
import { imageTypeOf } from '../src/photo-formats.ts'
import { garmentOf } from '../src/garments.ts'
import { fetchPhoto } from '../src/photo-fetcher.ts'
import { PhotoNotAccessible, PhotoNotReadable } from '../src/photo-problems.ts'
import { ofJobs } from '../src/ports.ts'
import { isPublic } from '../src/public-address.ts'
import { openResolver, publicLookup } from '../src/public-lookup.ts'
import { PutOff } from '../src/put-off.ts'
import { isOfThisMachine } from '../src/this-machine.ts'

const file = (name: string) => new Uint8Array(readFileSync(new URL(`photos/${name}`, import.meta.url)))
/** Of a phone: with where it was taken. */
const heic = file('metadata.heic')
/** 21 kB that would take 400 MB once decoded. */
const bomb = file('ninety-megapixels.heic')

const place = { IFD0: { Copyright: 'somebody' }, IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '51/1 30/1 0/1' } }
const plain = (width = 40, height = 20) => sharp({ create: { width, height, channels: 3, background: '#864' } })
const bytesOf = async (image: ReturnType<typeof sharp>) => new Uint8Array(await image.toBuffer())

const headers = { 'X-Service-SDK-Key': 'main-key', 'Content-Type': 'application/json' }
const service = createService({ config: parseConfig(suiteConfig), publicUrl: 'http://service.test' })
afterAll(() => service.close())

/** An upload target, and what puts a photo there. */
async function target(type: string) {
  const asked = new Request('http://service.test/uploads', {
    method: 'POST',
    headers,
    body: JSON.stringify({ contentType: type }),
  })
  const { data } = (await (await service.fetch(asked)).json()) as { data: { uploadUrl: string; imageUrl: string } }
  const put = (body: BodyInit) => {
    const init = { method: 'PUT', body, duplex: 'half', headers: { 'Content-Type': type } }
    return service.fetch(new Request(data.uploadUrl, init))
  }
  return { put, imageUrl: data.imageUrl }
}

async function uploaded(type: string, body: Uint8Array<ArrayBuffer>) {
  const { put, imageUrl } = await target(type)
  return { put: await put(body), kept: await service.fetch(new Request(imageUrl)) }
}

describe('a photo that is uploaded', () => {
  it('again, as its connection was lost, does not wait for what will not come of the one before', async () => {
    const photo = await bytesOf(plain().png())
    const { put } = await target('image/png')
    // so much has come that the rest may take its time
    const part = new Uint8Array(8_000_000)
    const stalled = put(new ReadableStream({ start: (controller) => controller.enqueue(part) }))
    await new Promise((resolve) => setImmediate(resolve))
    expect((await put(photo)).status).toBe(200)
    expect((await stalled).status).toBe(400)
  })

  it.each(['jpeg', 'png', 'webp'] as const)('as %s loses where it was taken, and stays of its type', async (format) => {
    const photo = await bytesOf(plain().withExif(place).toFormat(format))
    const { put, kept } = await uploaded(`image/${format}`, photo)
    expect([put.status, kept.headers.get('Content-Type')]).toEqual([200, `image/${format}`])
    const bytes = new Uint8Array(await kept.arrayBuffer())
    const { exif, width, height } = await sharp(bytes).metadata()
    expect([exif, width, height]).toEqual([undefined, 40, 20])
    expect(new TextDecoder('latin1').decode(bytes)).not.toContain('somebody')
  })

  it('as HEIC or AVIF becomes a JPEG without metadata', async () => {
    expect(new TextDecoder('latin1').decode(heic)).toContain('somebody')
    const avif = await bytesOf(plain().withExif(place).avif())
    for (const [type, photo, width] of [
      ['image/heic', heic, 96],
      ['image/heif', heic, 96],
      ['image/avif', avif, 40],
    ] as const) {
      const { put, kept } = await uploaded(type, photo)
      expect([type, put.status, kept.headers.get('Content-Type')]).toEqual([type, 200, 'image/jpeg'])
      const bytes = new Uint8Array(await kept.arrayBuffer())
      const found = await sharp(bytes).metadata()
      expect([found.width, found.exif]).toEqual([width, undefined])
      expect(new TextDecoder('latin1').decode(bytes)).not.toContain('somebody')
    }
  })

  it('is turned the way up that its camera noted, as the note goes', async () => {
    const photo = await bytesOf(plain(40, 20).withMetadata({ orientation: 6 }).jpeg())
    const { bytes } = await cleaned(photo)
    const { width, height, orientation } = await sharp(bytes).metadata()
    expect([width, height, orientation]).toEqual([20, 40, undefined])
  })

  it('is refused where it cannot be decoded, before anybody pays for it', async () => {
    const cut = (await bytesOf(plain(400, 400).withExif(place).jpeg())).slice(0, 700)
    for (const body of [new TextEncoder().encode('no picture'), cut, bomb, new Uint8Array()]) {
      const { put, kept } = await uploaded('image/png', body)
      expect([put.status, await put.json()]).toEqual([415, { error: 'The photo is not readable as an image' }])
      expect(kept.status).toBe(404)
    }
  })
})

describe('a file', () => {
  it('is known by what is in it, and nothing else is decoded', async () => {
    for (const format of ['jpeg', 'png', 'webp', 'avif'] as const)
      expect(imageTypeOf(await bytesOf(plain().toFormat(format)))).toBe(`image/${format}`)
    for (const format of ['gif', 'tiff'] as const)
      expect([format, imageTypeOf(await bytesOf(plain().toFormat(format)))]).toEqual([format, null])
    const svg = new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')
    await expect(render(svg, await bytesOf(plain().png()), 'upper_body')).rejects.toThrow(PhotoNotReadable)
  })

  it('is known by the rest of it, too, where it only begins as a photo', async () => {
    const drawing =
      '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="900"><rect width="9" height="9"/></svg>'
    for (const brand of ['avif', 'heic']) {
      const disguised = new TextEncoder().encode(`<!--ftyp${brand}-->${drawing}`)
      expect(imageTypeOf(disguised)).toBe(`image/${brand}`)
      await expect(cleaned(disguised)).rejects.toThrow(PhotoNotReadable)
    }
  })

  it('is not blamed for the picture of a product that cannot be drawn', async () => {
    const photo = await bytesOf(plain(400, 400).png())
    const broken = (await bytesOf(plain(400, 400).png())).slice(0, 60)
    const drawn = render(photo, broken, 'upper_body').catch((error: unknown) => error)
    expect(await drawn).toMatchObject({ message: 'the picture of a product cannot be drawn' })
    expect(await drawn).not.toBeInstanceOf(PhotoNotReadable)
  })

  it('that would get too large, or take long to write, becomes a JPEG', async () => {
    const side = 2_800
    const random = new Uint8Array(side * side * 3)
    for (let at = 0; at < random.length; at += 65_536) crypto.getRandomValues(random.subarray(at, at + 65_536))
    const noise = sharp(random, { raw: { width: side, height: side, channels: 3 } })
    const large = await cleaned(await bytesOf(noise.withExif(place).png({ compressionLevel: 0 })))
    expect(large.type).toBe('image/jpeg')
    expect(large.bytes.length).toBeLessThan(20 * 1024 * 1024)
    expect((await cleaned(await bytesOf(plain(3_000, 2_600).withExif(place).webp()))).type).toBe('image/jpeg')
  })
})

describe('text in a photo', () => {
  const said = 'SECRET N48.1371 E11.5754'
  const text = new TextEncoder().encode(said)
  const latin = new TextDecoder('latin1')
  const chunk = (name: string, data: Uint8Array) => {
    const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(name), data, Buffer.alloc(4)])
    bytes.writeUInt32BE(data.length)
    bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4)
    return bytes
  }
  const segment = (marker: number, data: Uint8Array) =>
    Buffer.concat([Buffer.from([0xff, marker, 0, data.length + 2]), data])
  const webpChunk = (name: string, data: Uint8Array) => {
    const bytes = Buffer.concat([Buffer.from(name), Buffer.alloc(4), data, Buffer.alloc(data.length % 2)])
    bytes.writeUInt32LE(data.length, 4)
    return bytes
  }
  const sized = (webp: Buffer) => (webp.writeUInt32LE(webp.length - 8, 4), webp)
  const into = (photo: Buffer, at: number, more: Uint8Array) =>
    Buffer.concat([photo.subarray(0, at), more, photo.subarray(at)])

  const ways: [string, 'jpeg' | 'png' | 'webp', (photo: Buffer) => Buffer][] = [
    ['behind its end', 'jpeg', (photo) => Buffer.concat([photo, text])],
    ['before its end', 'jpeg', (photo) => into(photo, photo.length - 2, text)],
    ['as a comment', 'jpeg', (photo) => into(photo, 2, segment(0xfe, text))],
    ['as a profile', 'jpeg', (photo) => into(photo, 2, segment(0xe2, Buffer.from(`ICC_PROFILE\0${said}`)))],
    [
      'as a table that nothing uses',
      'jpeg',
      (photo) =>
        into(photo, 2, segment(0xdb, Buffer.concat([Buffer.from([3]), text, Buffer.alloc(64 - text.length, 1)]))),
    ],
    ['behind its end', 'png', (photo) => Buffer.concat([photo, text])],
    ['as a chunk of text', 'png', (photo) => into(photo, 33, chunk('tEXt', text))],
    ['as a palette', 'png', (photo) => into(photo, 33, chunk('PLTE', text))],
    ['behind its pixels', 'png', (photo) => into(photo, photo.length - 12, chunk('IDAT', text))],
    ['behind its end', 'webp', (photo) => Buffer.concat([photo, text])],
    ['as a second picture', 'webp', (photo) => sized(Buffer.concat([photo, webpChunk('VP8 ', text)]))],
    ['as transparency', 'webp', (photo) => sized(Buffer.concat([photo, webpChunk('ALPH', text)]))],
  ]

  it.each(ways)('%s of a %s does not outlive its upload', async (_, format, hide) => {
    const photo = hide(await plain(64, 48).toFormat(format).toBuffer())
    expect(latin.decode(photo)).toContain(said)
    const { bytes, type } = await cleaned(new Uint8Array(photo))
    expect([latin.decode(bytes).includes(said), type]).toEqual([false, `image/${format}`])
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 64, height: 48 })
  })
})

describe('a photo that only begins like one', () => {
  it.each(['jpeg', 'png'] as const)('of %s is refused', async (format) => {
    const noise = sharp(
      new Uint8Array(300 * 200 * 3).map((_, at) => (at * 7919) % 251),
      { raw: { width: 300, height: 200, channels: 3 } },
    )
    const photo = await bytesOf(noise.toFormat(format))
    // with its pixels gone
    photo.fill(0, Math.floor(photo.length / 3), photo.length - 16)
    await expect(cleaned(photo)).rejects.toThrow(PhotoNotReadable)
  })
})

describe('a photo that lies elsewhere', () => {
  const serving = async (answer: string) => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(answer))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/photo` }
  }

  it.each([
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
    ['a redirect to nowhere', 'HTTP/1.1 302 Found\r\nLocation: http://[\r\nContent-Length: 0\r\n\r\n'],
    ['nothing', ''],
    ['crumbs', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(3_000)}0\r\n\r\n`],
    [
      'word that it is to come, again and again',
      `${'HTTP/1.1 102 Processing\r\n\r\n'.repeat(20)}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nphoto`,
    ],
  ])('is not accessible where it is answered with %s', async (_, answer) => {
    const { server, url } = await serving(answer)
    // as a job asks again for what is put off, where this machine lets the process stand still
    const ask = (): Promise<unknown> =>
      fetchPhoto(url, { isAllowed: () => true }).catch((error) =>
        error instanceof PutOff ? ask() : Promise.reject(error),
      )
    await expect(ask()).rejects.toThrow(PhotoNotAccessible)
    server.close()
  })

  it('is put off where the process stood still until its time was over, in the middle of it', async () => {
    const { server, url } = await serving('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\npho')
    const connected = once(server, 'connection') as Promise<[Socket]>
    const putOff = expect(fetchPhoto(url, { isAllowed: () => true, timeLimitMs: 1_000 })).rejects.toThrow(PutOff)
    await once((await connected)[0], 'data')
    standStill(1_500)
    await putOff
    server.close()
  })

  it('is read to its end by a process that stood still in the middle of it', async () => {
    const server = createServer((socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\npho'))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const connected = once(server, 'connection') as Promise<[Socket]>
    const answered = new Promise((resolve) => subscribe('http.client.response.finish', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/photo`
    const fetching = fetchPhoto(url, { isAllowed: () => true })
    const [socket] = await connected
    await answered
    await new Promise((resolve) => setImmediate(resolve))
    standStill(11_000)
    socket.end('to')
    expect(new TextDecoder().decode(await fetching)).toBe('photo')
    server.close()
  })

  it('is put off where the process has no file handles left to ask for it, as is a product’s picture in a file', async () => {
    const program = fileURLToPath(new URL('handle-less-process.ts', import.meta.url))
    const limited = ['-c', 'ulimit -n 128; exec "$0" --conditions=fitting-room-source "$1"', process.execPath, program]
    const { stdout } = await promisify(execFile)('sh', limited)
    expect(stdout).toBe('PhotoNotAccessible found PutOff PutOff\n')
  })
})

it('a host with several addresses is given the time to answer at the first one', () =>
  expect(getDefaultAutoSelectFamilyAttemptTimeout()).toBeGreaterThan(2_000))

describe('that a photo could not be asked for', () => {
  it.each([
    ['no port is left', { code: 'EADDRNOTAVAIL', address: '8.8.4.4' }, true],
    ['there is no IPv6', { code: 'EADDRNOTAVAIL', address: '2606:4700::1111' }, false],
    ['the network is down', { code: 'ENETDOWN', address: '8.8.4.4' }, true],
    ['nobody listens', { code: 'ECONNREFUSED', address: '8.8.4.4' }, false],
    [
      'no port is left for any of several addresses',
      Object.assign(new AggregateError([{ code: 'EADDRNOTAVAIL', address: '8.8.4.4' }, { code: 'ENETUNREACH' }]), {
        code: 'EADDRNOTAVAIL',
      }),
      true,
    ],
  ])('as %s', (_, cause, isOurs) => expect(isOfThisMachine(cause)).toBe(isOurs))
})

it('a photo at a name of which the name servers say nothing is not waited for for ever', async () => {
  const asked = vi.fn<() => void>()
  const mute = createSocket('udp4', asked).bind(0, '127.0.0.1')
  await once(mute, 'listening')
  const resolver = openResolver()
  resolver.setServers([`127.0.0.1:${mute.address().port}`])
  const lookup = publicLookup(() => resolver)
  const found = new Promise((resolve) => lookup('photos.example', { all: true }, resolve))
  expect(await found).toBeInstanceOf(PhotoNotAccessible)
  expect(asked).toHaveBeenCalled()
  mute.close()
})

it('a photo at a name that no name server can be asked for is put off', async () => {
  const gone = createSocket('udp4').bind(0, '127.0.0.1')
  await once(gone, 'listening')
  const { port } = gone.address()
  gone.close()
  const resolver = openResolver()
  resolver.setServers([`127.0.0.1:${port}`])
  const lookup = publicLookup(() => resolver)
  const found = await new Promise((resolve) => lookup('photos.example', { all: true }, resolve))
  expect(found).toBeInstanceOf(PutOff)
  // it is reported, and a shopper may be named by it
  expect(inspect(found)).not.toContain('photos.example')
})

describe('an address of IPv6', () => {
  it.each(['::7f00:1', '::127.0.0.1', '::ffff:127.0.0.1', '64:ff9b::7f00:1', 'fd00::1', 'fe80::1'])(
    'that leads inside is not public: %s',
    (address) => expect(isPublic(address)).toBe(false),
  )

  it('of the internet is', () => expect(isPublic('2606:2800:220:1:248:1893:25c8:1946')).toBe(true))
})

describe('the picture of a product', () => {
  const drawn = '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="90"><rect width="60" height="90"/></svg>'
  const product = { id: '1001', title: 'Tee', image: 'https://shop.test/tee' }

  it.each([
    ['a drawing', async () => new TextEncoder().encode(drawn)],
    ['a GIF', () => bytesOf(plain().gif())],
    ['a TIFF', () => bytesOf(plain().tiff())],
  ])('is not taken from another server where it is %s', async (_, made) => {
    await expect(garmentOf(product, made)).rejects.toThrow('no JPEG, PNG, WebP, HEIC or AVIF')
  })

  it.each([
    ['PNG', () => bytesOf(plain().png())],
    ['AVIF', () => bytesOf(plain().avif())],
    ['HEIC', async () => heic],
  ])('is taken from another server, and drawn, where it is %s', async (_, made) => {
    const drawing = openDrawing({ report: () => {} })
    onTestFinished(drawing.close)
    const garment = await garmentOf(product, made)
    const { final } = await drawing.render(await bytesOf(plain(200, 300).png()), garment, 'upper_body', 'main')
    expect(final.type).toBe('image/jpeg')
  })

  it.each([
    ['GIF', () => bytesOf(plain().gif())],
    ['TIFF', () => bytesOf(plain().tiff())],
  ])('is drawn as %s for nobody, whoever has put it there', async (_, made) => {
    const drawing = openDrawing({ report: () => {} })
    onTestFinished(drawing.close)
    const photo = await bytesOf(plain(200, 300).png())
    await expect(drawing.render(photo, await made(), 'upper_body', 'main')).rejects.toThrow()
    const asDrawing = new TextEncoder().encode(drawn)
    await expect(drawing.render(photo, asDrawing, 'upper_body', 'main')).resolves.toBeDefined()
  })
})

describe('a picture that takes too much', () => {
  /** Its pixels take long enough to be in the middle of them. */
  const large = bytesOf(plain(7_700, 7_700).withExif(place).png())

  it.each([
    ['time', { longestMs: 50 }],
    ['memory', { mostMemory: 1 }],
  ])('of %s ends its process alone, and whoever runs the service is told', async (_, limit) => {
    const reports: Error[] = []
    const drawing = openDrawing({ report: (error) => reports.push(error as Error), ...limit })
    const photo = join(await mkdtemp(join(tmpdir(), 'photo-')), 'large.png')
    await writeFile(photo, await large)
    await expect(drawing.cleanedFile(photo, ofJobs('main'))).rejects.toThrow(PhotoNotReadable)
    expect(reports.map(({ message }) => message)).toEqual([
      'a photo was given up, as it takes too long or too much to decode',
    ])
    await drawing.close()
  })

  it('is none for what those before it have left in its process', async () => {
    const drawing = openDrawing({ report: () => {}, atOnce: 1, mostMemory: 950_000_000 })
    const photo = join(await mkdtemp(join(tmpdir(), 'photo-')), 'large.jpeg')
    await writeFile(photo, await plain(7_600, 7_600).jpeg({ progressive: true }).toBuffer())
    for (let count = 0; count < 6; count += 1)
      expect(await drawing.cleanedFile(photo, ofJobs('main'))).toMatchObject({ type: 'image/jpeg' })
    await drawing.close()
  })

  it('is one of many pixels in a small file: its size is read before it is decoded', async () => {
    await expect(cleaned(bomb)).rejects.toThrow(PhotoNotReadable)
  })
})

it('a photo at a name is found whatever is answered of another name meanwhile', async () => {
  const asked = deferred<() => void>()
  const server = createSocket('udp4', (query, { port, address }) => {
    const reply = (bytes: Buffer) => server.send(bytes, port, address)
    const isA = query.readUInt16BE(query.indexOf(Buffer.from('example\0')) + 8) === 1
    const record = isA ? [0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 8, 8, 4, 4] : []
    const answer = Buffer.concat([query, Buffer.from(record)])
    answer.writeUInt16BE(0x8180, 2)
    answer.writeUInt16BE(record.length > 0 ? 1 : 0, 6)
    // what comes after the question is no part of an answer
    answer.writeUInt16BE(0, 10)
    // nobody can read it
    if (query.includes('broken')) reply(answer.subarray(0, 14))
    else if (isAnswered) reply(answer)
    else asked.resolve(() => reply(answer))
  }).bind(0, '127.0.0.1')
  let isAnswered = false
  await once(server, 'listening')
  const lookup = publicLookup(() => {
    const resolver = openResolver()
    resolver.setServers([`127.0.0.1:${server.address().port}`])
    return resolver
  })
  const found = (name: string) =>
    new Promise((resolve) =>
      lookup(`${name}.example`, { all: true }, (error, addresses) => resolve(error ?? addresses)),
    )
  const photos = found('photos')
  const first = await asked.promise
  expect(await found('broken')).toBeInstanceOf(PhotoNotAccessible)
  isAnswered = true
  first()
  expect(await photos).toEqual([{ address: '8.8.4.4', family: 4 }])
  server.close()
})
