import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import S3rver from '@20minutes/s3rver'
import {
  createService,
  memoryBlobs,
  memoryStore,
  parseConfig,
  type BlobStore,
  type Service,
  type ServiceOptions,
  type Store,
} from '@fitting-room/service'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../test/support/free-port.ts'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { deleteExpired } from '../src/retention.ts'
import { seldom } from '../../test/limits.ts'
import { bucketBlobs } from '../src/bucket/bucket-blobs.ts'
import { openBucket, type Bucket } from '../src/bucket/bucket.ts'
import { movedBlobs } from '../src/moved-blobs.ts'
import { ofJobs, type Blob, type Line, type PhotoIntake } from '../src/ports.ts'
import { SignedUploads } from '../src/signed-uploads.ts'
import { deferred } from '../../src/platform/deferred.ts'
import { LineFull, mostOfClient } from '../src/drawing/not-drawn.ts'
import { PhotoNotReadable } from '../src/photo-problems.ts'
import { png } from './contract.suite.ts'

const url = 'http://service.test'
const keys = { id: 'S3RVER', secret: 'S3RVER' }
const dayMs = 86_400_000
const uploadSecret = randomBytes(32)
let folder: string
let server: S3rver
let place: { endpoint: string; name: string; region: string }

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bucket-'))
  const port = await freePort()
  server = new S3rver({
    port,
    address: '127.0.0.1',
    silent: true,
    directory: folder,
    configureBuckets: [{ name: 'try-ons', configs: [] }],
  })
  await server.run()
  place = { endpoint: `http://127.0.0.1:${port}`, name: 'try-ons', region: 'us-east-1' }
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

const files = async () =>
  (await readdir(join(folder, 'try-ons'), { recursive: true })).filter((name) => name.endsWith('._S3rver_object'))

/** A photo is taken as it is unless a test says otherwise. */
const blobsIn = (
  bucket: Bucket,
  takePhoto: PhotoIntake = async ({ body }) => ({
    bytes: new Uint8Array(await new Response(body).arrayBuffer()),
    type: 'image/png',
  }),
  willKeep: (name: string) => Promise<unknown> = async () => {},
) => bucketBlobs(bucket, takePhoto, willKeep)

interface World {
  store: Store
  config: ReturnType<typeof parseConfig>
  ask(path: string, body?: object): Promise<{ status: number; data: Record<string, string> }>
  fetch: Service['fetch']
  /** A new upload target; `put` puts a photo there. */
  target(): Promise<{ imageUrl: string; name: string; put(photo: Uint8Array, more?: object): Promise<void> }>
  /** Puts a photo where the service says, and has it tried on; resolves with the end of that. */
  tryOn(photo: Uint8Array, more?: Record<string, string>): Promise<{ imageUrl: string; end: Record<string, string> }>
}

function open(more: Partial<ServiceOptions> = {}): World {
  const config = parseConfig({ ...suiteConfig, bucket: place })
  const store = memoryStore()
  const service = createService({ config, publicUrl: url, bucketKeys: keys, store, report: () => {}, ...more })
  onTestFinished(() => service.close())
  const headers = { 'X-Service-SDK-Key': 'main-key', 'Content-Type': 'application/json' }
  const ask: World['ask'] = async (path, body) => {
    const init = body ? { method: 'POST', body: JSON.stringify(body) } : {}
    const answer = await service.fetch(new Request(url + path, { ...init, headers }))
    const { data } = (await answer.json()) as { data: Record<string, string> }
    return { status: answer.status, data }
  }
  const target: World['target'] = async () => {
    const { data } = await ask('/uploads', { contentType: 'image/png' })
    const { imageUrl, uploadUrl } = data as { imageUrl: string; uploadUrl: string }
    return {
      imageUrl,
      name: basename(new URL(imageUrl).pathname),
      async put(photo, more = {}) {
        const headers = { 'Content-Type': 'image/png', ...more }
        expect((await fetch(uploadUrl, { method: 'PUT', body: Buffer.from(photo), headers })).status).toBe(200)
      },
    }
  }
  return {
    store,
    config,
    ask,
    fetch: service.fetch,
    target,
    async tryOn(photo, more = {}) {
      const { imageUrl, put } = await target()
      await put(photo, more)
      const started = await ask('/generations', {
        funnelId: 12,
        productId: '1001',
        variantId: '2001',
        imageUrl,
        uniqueUserId: 'one',
      })
      let end: Record<string, string> = {}
      const hasEnded = async () => {
        end = (await ask(`/generations/${started.data['jobId']}`)).data
        return end['status'] === 'ERROR' || end['storageStatus'] === 'READY'
      }
      await expect.poll(hasEnded, seldom).toBe(true)
      return { imageUrl, end }
    },
  }
}

describe('a service whose photos and pictures are in a bucket', () => {
  it('has those of before where they were put then, and deletes them there', async () => {
    const blobs = memoryBlobs()
    await blobs.put('before.png', { bytes: png, type: 'image/png' })
    const { fetch: ask, store, config } = open({ blobs })
    for (const method of ['GET', 'HEAD'])
      expect((await ask(new Request(`${url}/pictures/before.png`, { method }))).status).toBe(200)
    const moved = movedBlobs(
      blobsIn(openBucket(place, keys), () => expect.fail('nothing is looked at')),
      blobs,
    )
    await store.keepPhoto('before.png', 0)
    await deleteExpired({ config, store, blobs: moved, clock: Date, report: (error) => expect.fail(String(error)) })
    expect(await blobs.get('before.png')).toBeNull()
  })

  it('passes a picture on as it is read, however slowly', async () => {
    const bucket = openBucket(place, keys)
    const blobs = blobsIn(bucket, () => expect.fail('nothing is looked at'))
    await blobs.put('slow.png', { bytes: png, type: 'image/png' })
    const found = await blobs.open?.('slow.png')
    expect(found).toMatchObject({ size: png.length, type: 'image/png' })
    expect(await new Response(found && 'body' in found ? found.body : null).bytes()).toEqual(new Uint8Array(png))
    const { fetch: ask } = open()
    const picture = (method: string) => ask(new Request(`${url}/pictures/slow.png`, { method }))
    expect(await (await picture('GET')).bytes()).toEqual(new Uint8Array(png))
    expect((await picture('HEAD')).headers.get('Content-Length')).toBe(String(png.length))
    expect(await blobs.open?.('none.png')).toBeNull()
  })

  it('is told that the bucket is away, and not that a photo is, where there is no such bucket', async () => {
    const away = openBucket({ ...place, name: 'nowhere' }, keys)
    await expect(away.get('kept/a.png')).rejects.toThrow('NoSuchBucket')
    await expect(away.remove('kept/a.png')).rejects.toThrow('NoSuchBucket')
    expect(await openBucket(place, keys).get('kept/a.png')).toBeNull()
  })

  it('has a photo put there by a URL that takes its type alone, and nothing when it is changed', async () => {
    const { ask } = open()
    const { data } = await ask('/uploads', { contentType: 'image/png' })
    const target = data['uploadUrl']!
    expect(target.startsWith(`${place.endpoint}/try-ons/`)).toBe(true)
    const put = async (to: string, type: string) =>
      (await fetch(to, { method: 'PUT', body: Buffer.from(png), headers: { 'Content-Type': type } })).status
    expect(await put(target, 'image/webp')).toBe(403)
    expect(await put(target.replace(/X-Amz-Expires=\d+/, 'X-Amz-Expires=604000'), 'image/png')).toBe(403)
    expect(await put(target.replace('/arrived/', '/kept/'), 'image/png')).toBe(403)
    expect(await put(target, 'image/png')).toBe(200)
  })

  it('makes a picture of it, and shows both from its own address', async () => {
    const world = open()
    const { imageUrl, end } = await world.tryOn(png)
    expect(end['storageStatus']).toBe('READY')
    for (const [address, type] of [
      [imageUrl, 'image/png'],
      [end['permanentUrl']!, 'image/jpeg'],
    ] as const) {
      const answer = await world.fetch(new Request(address))
      expect([address.startsWith(url), answer.status, answer.headers.get('Content-Type')]).toEqual([true, 200, type])
      expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(50)
    }
  })

  it('looks at it in the line of who asks for it, and for a job in the line of its store', async () => {
    const lines: Line[] = []
    const {
      ask,
      fetch: serve,
      tryOn,
    } = open({
      takePhoto: async (_request, _limits, line) => {
        lines.push(line)
        return { bytes: png, type: 'image/png' }
      },
    })
    const { data } = await ask('/uploads', { contentType: 'image/png' })
    const headers = { 'Content-Type': 'image/png' }
    await fetch(data['uploadUrl']!, { method: 'PUT', body: Buffer.from(png), headers })
    await serve(new Request(data['imageUrl']!), { ip: '198.51.100.7' })
    await tryOn(png)
    expect(lines).toEqual([
      { kind: 'upload', of: '198.51.100.7' },
      { kind: 'job', of: 'main' },
    ])
  })

  it('lets no job wait in the line of who only looks at its photo, and lets who looks wait for the job', async () => {
    const held: { line: Line; release: (photo: Blob) => void }[] = []
    const { target, fetch: serve } = open()
    const { imageUrl, name, put } = await target()
    await put(png)
    const blobs = blobsIn(
      openBucket(place, keys),
      (_request, _limits, line) => new Promise((release) => held.push({ line, release })),
    )
    const photo = { bytes: png, type: 'image/png' }
    const upload = { kind: 'upload', of: '198.51.100.7' } as const
    const linesOf = () => held.map(({ line }) => line)
    const seen = blobs.get(name, upload)
    await expect.poll(linesOf).toEqual([upload])
    const drawn = blobs.get(name, ofJobs('main'))
    await expect.poll(linesOf).toEqual([upload, ofJobs('main')])
    const seenLater = blobs.get(name, { kind: 'upload', of: '198.51.100.8' })
    held[1]?.release(photo)
    expect(await Promise.all([drawn, seenLater])).toEqual([photo, photo])
    held[0]?.release(photo)
    expect(await seen).toEqual(photo)
    expect((await serve(new Request(imageUrl))).status).toBe(200)
    expect(held).toHaveLength(2)
  })

  it("reads no more than a few photos at once for who only looks, and a job's all the same", async () => {
    const { target } = open()
    const [first, job] = await Promise.all([target(), target()])
    await Promise.all([first.put(png), job.put(png)])
    const held: ((photo: Blob) => void)[] = []
    const blobs = blobsIn(openBucket(place, keys), () => new Promise((release) => held.push(release)))
    const client = { kind: 'upload', of: '198.51.100.7' } as const
    const looks = Array.from({ length: mostOfClient }, () => blobs.get(`${randomUUID()}.png`, client))
    await expect(blobs.get(first.name, client)).rejects.toThrow(LineFull)
    const drawn = blobs.get(job.name, ofJobs('main'))
    await expect.poll(() => held.length).toBe(1)
    const photo = { bytes: png, type: 'image/png' }
    held[0]?.(photo)
    expect(await drawn).toEqual(photo)
    expect(await Promise.all(looks)).toEqual(looks.map(() => null))
    const again = blobs.get(first.name, client)
    await expect.poll(() => held.length).toBe(2)
    held[1]?.(photo)
    expect(await again).toEqual(photo)
  })

  it('looks anew at what is put in the place of a photo that is none, whoever saw that', async () => {
    const { name, put } = await open().target()
    const photo = { bytes: png, type: 'image/png' }
    const isNone = deferred<never>()
    const looks = [isNone.promise, Promise.resolve(photo)]
    const blobs = blobsIn(openBucket(place, keys), () => looks.shift() ?? expect.fail('it is looked at once too often'))
    await put(png)
    const asked = [ofJobs('main'), { kind: 'upload', of: '198.51.100.7' } as const].map((line) =>
      expect(blobs.get(name, line)).rejects.toThrow(PhotoNotReadable),
    )
    await expect.poll(() => looks).toHaveLength(1)
    isNone.reject(new PhotoNotReadable())
    await Promise.all(asked)
    await put(png)
    expect(await blobs.get(name)).toEqual(photo)
  })

  it('has a job made of what was put there last, and removes nothing that came while it looked', async () => {
    const { name, put } = await open().target()
    const photos = [1, 2, 3].map((text) => ({ bytes: new TextEncoder().encode(`photo ${text}`), type: 'image/png' }))
    const [first, second, third] = photos as [Blob, Blob, Blob]
    const looks: ((photo: Blob | PhotoNotReadable) => void)[] = []
    const blobs = blobsIn(
      openBucket(place, keys),
      () =>
        new Promise((resolve, reject) => {
          looks.push((found) => (found instanceof Error ? reject(found) : resolve(found)))
        }),
    )
    const asked = () => blobs.get(name, ofJobs('main'))
    const release = async (found: Blob | PhotoNotReadable) => {
      await expect.poll(() => looks.length).toBe(1)
      looks.pop()?.(found)
    }
    await put(first.bytes)
    const before = asked()
    await release(first)
    expect(await before).toEqual(first)
    await put(second.bytes)
    const after = asked()
    await expect.poll(() => looks.length).toBe(1)
    await put(third.bytes)
    await release(new PhotoNotReadable())
    await release(third)
    expect(await after).toEqual(third)
    expect(await asked()).toEqual(third)
    // nor does it put back what has had its time meanwhile
    await put(first.bytes)
    const late = asked()
    await expect.poll(() => looks.length).toBe(1)
    const gone = blobs.remove(name)
    await release(first)
    await Promise.all([late, gone])
    expect(await asked()).toBeNull()
  })

  it('has what is put there while another photo is being kept, and shows that alone', async () => {
    const { name, put } = await open().target()
    const bucket = openBucket(place, keys)
    const [first, second] = ['photo 1', 'photo 2'].map((text) => new TextEncoder().encode(text)) as [
      Uint8Array,
      Uint8Array,
    ]
    let isNext = true
    const blobs = blobsIn({
      ...bucket,
      async put(key, blob) {
        await bucket.put(key, blob)
        if (isNext) await put(second)
        isNext = false
      },
    })
    await put(first)
    expect((await blobs.get(name))?.bytes).toEqual(second)
    expect((await blobs.get(name))?.bytes).toEqual(second)
  })

  it('makes a photo known before it is kept, so that it is deleted whoever has just deleted what had arrived', async () => {
    const { store, config } = open()
    const name = `${randomUUID()}.png`
    const bucket = openBucket(place, keys)
    const known = (each: string) => store.keepPhoto(each, Date.now())
    await bucket.put(`arrived/${name}`, { bytes: png, type: 'image/png' })
    await store.keepPhoto(name, 0)
    const deleteAll = (blobs: BlobStore, now: number) =>
      deleteExpired({ config, store, blobs, report: (error) => expect.fail(String(error)), clock: { now: () => now } })
    /** Another process, which does not know that this one looks at it. */
    const other = blobsIn(bucket)
    const own = blobsIn(
      { ...bucket, put: (key, blob) => deleteAll(other, Date.now()).then(() => bucket.put(key, blob)) },
      undefined,
      known,
    )
    await own.get(name)
    expect((await files()).filter((file) => file.includes(name))).toHaveLength(1)
    await deleteAll(other, Date.now() + 2 * dayMs)
    expect((await files()).filter((file) => file.includes(name))).toEqual([])
  })

  it.each([
    ['says nothing', (_response: ServerResponse) => {}],
    [
      'says a little from time to time',
      (response: ServerResponse) => {
        const timer = setInterval(() => response.write('.'), 20)
        response.writeHead(200, { ETag: '"1"' }).once('close', () => clearInterval(timer))
      },
    ],
  ])('is given up once its time is over where it %s, whatever the platform has forgotten', async (_how, answer) => {
    const server = createServer((_, response) => answer(response)).listen(0, '127.0.0.1')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    await once(server, 'listening')
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const bucket = openBucket({ ...place, endpoint }, keys, { longestMs: 500 })
    setFlagsFromString('--expose-gc')
    const forget = runInNewContext('gc') as () => void
    const forgetting = setInterval(forget, 20)
    onTestFinished(() => clearInterval(forgetting))
    await expect(bucket.get('name')).rejects.toThrow('timeout')
  })

  it('asks for things as they are, and takes nothing without its version or its end', async () => {
    let [version, hasEnd] = ['"1"', true]
    const server = createServer(({ headers }, response) => {
      const isPacked = headers['accept-encoding']?.includes('gzip')
      if (isPacked) response.setHeader('Content-Encoding', 'gzip')
      if (version) response.setHeader('ETag', version)
      // nobody can tell it from what was cut
      response.useChunkedEncodingByDefault = hasEnd
      response.write(isPacked ? gzipSync(png) : png)
      response.end()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const bucket = openBucket({ ...place, endpoint }, keys)
    const opened = await bucket.open('name')
    expect(opened).toMatchObject({ version: '"1"', isPacked: false })
    await opened?.body?.cancel()
    hasEnd = false
    await expect(bucket.open('name')).rejects.toThrow('without its end')
    await expect(bucket.get('name')).rejects.toThrow('without its end')
    ;[version, hasEnd] = ['', true]
    await expect(bucket.open('name')).rejects.toThrow('without its version')
  })

  it('shows what was put into a bucket in place of what is in the folder of before', async () => {
    const before = memoryBlobs()
    const moved = movedBlobs(
      blobsIn(openBucket(place, keys), () => expect.fail('nothing is looked at')),
      before,
    )
    const name = `${randomUUID()}.png`
    await before.put(name, { bytes: png.slice(0, 1), type: 'image/png' })
    await moved.put(name, { bytes: png, type: 'image/png' })
    expect((await moved.get(name))?.bytes).toEqual(png)
  })

  it('takes a photo at a target that was given before there was a bucket', async () => {
    const before = new SignedUploads(uploadSecret)
    const { fetch: serve } = open({ uploadSecret })
    const name = `${randomUUID()}.png`
    const request = { method: 'PUT', body: Buffer.from(png), headers: { 'Content-Type': 'image/png' } }
    const target = before.sign(name, 'image/png', Date.now())
    expect((await serve(new Request(url + target, request))).status).toBe(200)
    expect((await serve(new Request(`${url}/photos/${name}`))).status).toBe(200)
    expect((await serve(new Request(`${url + target}0`, request))).status).toBe(403)
  })

  it('gives nothing to a name that leads elsewhere in the bucket, or out of it', async () => {
    const world = open()
    const { data } = await world.ask('/uploads', { contentType: 'image/png' })
    await fetch(data['uploadUrl']!, { method: 'PUT', body: Buffer.from(png), headers: { 'Content-Type': 'image/png' } })
    const name = data['imageUrl']!.slice(data['imageUrl']!.lastIndexOf('/') + 1)
    for (const way of [
      `../arrived/${name}`,
      `x/../../arrived/${name}`,
      '..',
      '.',
      `../../try-ons/arrived/${name}`,
      '../',
    ])
      for (const route of ['photos', 'pictures'])
        expect((await world.fetch(new Request(`${url}/${route}/${encodeURIComponent(way)}`))).status).toBe(404)
  })

  it('gives a photo to nobody with what it came with, and keeps nothing of that', async () => {
    const withPlace = await sharp({ create: { width: 300, height: 300, channels: 3, background: '#888' } })
      .withExif({ IFD3: { GPSLatitude: '52/1 30/1 0/1' } })
      .png()
      .toBuffer()
    expect((await sharp(withPlace).metadata()).exif).toBeDefined()
    const world = open()
    const { imageUrl } = await world.tryOn(withPlace)
    const seen = await (await world.fetch(new Request(imageUrl))).arrayBuffer()
    expect((await sharp(seen).metadata()).exif).toBeUndefined()
    const name = imageUrl.slice(imageUrl.lastIndexOf('/') + 1)
    const own = (await files()).filter((file) => file.includes(name))
    expect(own).toEqual([join('kept', `${name}._S3rver_object`)])
    const { exif } = await sharp(await readFile(join(folder, 'try-ons', own[0]!))).metadata()
    expect(exif).toBeUndefined()
  })

  it.each<[string, Uint8Array, Record<string, string>?]>([
    ['is no picture', Buffer.from('<svg/>')],
    ['is larger than 20 MB', Buffer.alloc(20 * 1024 * 1024 + 1)],
    ['is packed, so that it could be of any size', gzipSync(png), { 'Content-Encoding': 'gzip' }],
  ])('fails a job whose photo %s, as nobody saw it before, and deletes it', async (_, photo, more = {}) => {
    const before = await files()
    const { end } = await open().tryOn(photo, more)
    expect(end).toEqual({ status: 'ERROR', error: 'The photo is not readable as an image' })
    expect(await files()).toEqual(before)
  })

  it('deletes there what has had its time, and what arrived and was never used', async () => {
    const world = open()
    const used = await world.tryOn(png)
    const { data } = await world.ask('/uploads', { contentType: 'image/png' })
    await fetch(data['uploadUrl']!, { method: 'PUT', body: Buffer.from(png), headers: { 'Content-Type': 'image/png' } })
    const blobs = blobsIn(openBucket(place, keys), async () => {
      throw new Error('nothing is looked at')
    })
    await deleteExpired({
      config: world.config,
      store: world.store,
      blobs,
      report: (error) => expect.fail(String(error)),
      clock: { now: () => Date.now() + 31 * dayMs },
    })
    const names = [used.imageUrl, data['imageUrl']!, used.end['permanentUrl']!].map((each) =>
      each.slice(each.lastIndexOf('/') + 1),
    )
    expect((await files()).filter((file) => names.some((name) => file.includes(name)))).toEqual([])
  })

  it('is not begun without the keys of its bucket', () => {
    const config = parseConfig({ ...suiteConfig, bucket: place })
    expect(() => createService({ config, publicUrl: url })).toThrow('AWS_ACCESS_KEY_ID')
  })
})
