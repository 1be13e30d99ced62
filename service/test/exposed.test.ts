import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createService, memoryBlobs, memoryStore, parseConfig, serve, type Store } from '@fitting-room/service'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { undrawn } from '../../test/support/undrawn.ts'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { clientOf } from '../src/client-address.ts'
import { EndsProcesses, LineFull, PhotoTooCostly } from '../src/drawing/not-drawn.ts'
import { fileBlobs } from '../src/file-blobs.ts'
import { IpLimiter } from '../src/ip-limiter.ts'
import { type PhotoIntake } from '../src/ports.ts'
import { png } from './contract.suite.ts'

const headers = { 'X-Service-SDK-Key': 'main-key', 'Content-Type': 'application/json' }
const order = { funnelId: 12, productId: '1001', variantId: '2001', imageUrl: 'https://cdn.example/a.png' }

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()))
})

async function served(config: object = suiteConfig) {
  const server = await serve({ config: parseConfig(config), report: () => {} }, 0)
  open.push(server)
  return server.url
}

/** What comes back for bytes that no client sends. */
async function raw(url: string, head: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
  socket.write(head)
  await once(socket, 'close')
  return answer
}

/** What comes back for a body of which a byte comes from time to time. */
async function dripped(url: string, head: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.write(`${head}Host: a\r\nContent-Length: 60000\r\n\r\n`)
  const drip = setInterval(() => socket.write(' '), 100)
  const [chunk] = (await once(socket, 'data').finally(() => clearInterval(drip))) as [Buffer]
  socket.destroy()
  return chunk.toString()
}

describe('what comes over the wire', () => {
  it.each([
    ['without a host', 'GET /funnel HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['with a host that is none', 'GET /funnel HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n'],
    ['with a path that is none', 'GET \\funnel HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
  ])('a request %s gets an error of the contract, with CORS', async (_, head) => {
    const answer = await raw(await served(), head)
    expect(answer).toMatch(/^HTTP\/1\.1 400/)
    expect(answer).toMatch(/access-control-allow-origin: \*/i)
    expect(JSON.parse(answer.slice(answer.indexOf('{')))).toMatchObject({ error: 'Invalid request' })
  })

  const ofPage = {
    Origin: 'https://shop.example',
    'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64)',
    'Accept-Language': 'de',
    Connection: 'keep-alive',
  }

  /** The statuses that come back, up to the last one. */
  async function statuses(request: string, said: Record<string, string>, config?: object): Promise<string[]> {
    const socket = connect(Number(new URL(await served(config)).port), '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    const lines = Object.entries({ Host: 'a', 'Content-Length': '2', ...said }).map((each) => each.join(': '))
    socket.write(`${[request, ...lines].join('\r\n')}\r\n\r\n{}`)
    let answer = ''
    for await (const chunk of socket) {
      answer += String(chunk)
      const all = [...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status = '']) => status)
      if (all.some((status) => !status.startsWith('1'))) return all
    }
    return []
  }

  it.each(['generations', 'uploads'])(
    'a page’s POST /%s is answered at once, so that no browser repeats it',
    async (path) => {
      expect(await statuses(`POST /${path} HTTP/1.1`, ofPage)).toEqual(['102', '401'])
    },
  )

  it.each([
    ['of no page', 'POST /generations HTTP/1.1', { ...ofPage, Origin: undefined }],
    ['of no browser', 'POST /generations HTTP/1.1', { ...ofPage, 'User-Agent': 'python-requests/2.32' }],
    ['of a client that does not say what it is', 'POST /generations HTTP/1.1', { ...ofPage, 'User-Agent': undefined }],
    [
      'of a program that calls itself a browser',
      'POST /generations HTTP/1.1',
      { ...ofPage, 'Accept-Language': undefined },
    ],
    ['that changes nothing', 'GET /funnel?funnelIds=11 HTTP/1.1', ofPage],
    ['of an older version', 'POST /generations HTTP/1.0', ofPage],
    ['through a proxy (Connection)', 'POST /generations HTTP/1.1', { ...ofPage, Connection: 'close' }],
    ['through a proxy (Via)', 'POST /generations HTTP/1.1', { ...ofPage, Via: '1.1 edge' }],
    ['through a proxy (Forwarded)', 'POST /generations HTTP/1.1', { ...ofPage, Forwarded: 'for=192.0.2.1' }],
    ['through a proxy (X-Forwarded-For)', 'POST /generations HTTP/1.1', { ...ofPage, 'X-Forwarded-For': '192.0.2.1' }],
  ])('a request %s is answered once', async (_, request, { ...said }) => {
    const isSaid = (each: [string, string | undefined]): each is [string, string] => each[1] !== undefined
    expect(await statuses(request, Object.fromEntries(Object.entries(said).filter(isSaid)))).toEqual(['401'])
  })

  it('a page’s POST is answered once where a trusted proxy brings it that does not say so', async () => {
    const config = { ...suiteConfig, trustedProxies: ['127.0.0.0/8'] }
    expect(await statuses('POST /generations HTTP/1.1', ofPage, config)).toEqual(['401'])
  })

  it('an expectation that nobody knows changes no answer', async () => {
    const answer = await raw(
      await served(),
      'GET /nowhere HTTP/1.1\r\nHost: a\r\nExpect: x\r\nConnection: close\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1\.1 404/)
    expect(answer).toMatch(/access-control-allow-origin: \*/i)
  })

  it('a method that is none of the path’s is told which are, and no answer is kept by caches', async () => {
    const url = await served()
    const answer = await fetch(`${url}/generations`, { headers })
    expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'POST, OPTIONS'])
    expect(answer.headers.get('Cache-Control')).toBe('no-store')
    expect((await fetch(`${url}/photos/a.png`, { method: 'POST' })).headers.get('Allow')).toBe('GET, PUT, OPTIONS')
  })

  it('and has a head that never ends has its connection no longer than it takes to be told', async () => {
    const url = await served()
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })
    let answer = ''
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
    socket.on('error', () => {})
    socket.write('GET /context HTTP/1.1\r\nHost: a\r\nX-Slow: ')
    // and goes on, whatever it is told
    const drip = setInterval(() => socket.write('a'), 100)
    await new Promise((resolve) => socket.once('close', resolve))
    clearInterval(drip)
    expect(answer).toMatch(/^HTTP\/1\.1 400/)
  })

  it('an upload without a signature is refused before its body is there', async () => {
    const url = await served()
    const head =
      'PUT /photos/a.png?type=image/png HTTP/1.1\r\nHost: a\r\nContent-Length: 20000000\r\nConnection: close\r\n'
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write(`${head}\r\nno more than this`)
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    expect(chunk.toString()).toMatch(/^HTTP\/1\.1 403/)
    socket.destroy()
  })

  it.each([
    ['uniqueUserId', 'a\0b'],
    ['uniqueUserId', 'a\ud800b'],
  ])('%s with what no database keeps as text is 400', async (name, value) => {
    const url = await served()
    const body = JSON.stringify({ ...order, [name]: value })
    const answer = await fetch(`${url}/generations`, { method: 'POST', headers, body })
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { error: 'Invalid request', message: 'body has characters that cannot be kept' },
    ])
  })

  it('a shopper’s ID of more than 1,024 characters is 400, wherever it is', async () => {
    const url = await served()
    const uniqueUserId = 'x'.repeat(1_025)
    const post = (path: string, body: object) =>
      fetch(url + path, { method: 'POST', headers, body: JSON.stringify({ ...body, uniqueUserId }) })
    const answers = await Promise.all([
      post('/generations', order),
      post('/customer-register', { email: 'a@example.com' }),
      fetch(`${url}/requests-left?uniqueUserId=${uniqueUserId}`, { headers }),
      fetch(`${url}/generations/${crypto.randomUUID()}?uniqueUserId=${uniqueUserId}`, { headers }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400])
    expect(await answers[0].json()).toMatchObject({
      message: 'body has uniqueUserId of more than 1024 characters',
    })
    expect((await fetch(`${url}/requests-left?uniqueUserId=${uniqueUserId.slice(1)}`, { headers })).status).toBe(200)
  })

  it('a name, or an address, that is too long to be kept is 400, wherever it is', async () => {
    const url = await served()
    const post = async (path: string, body: object) =>
      (await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })).status
    const address = (most: number) => `${'a'.repeat(most - '@example.com'.length)}@example.com`
    const register = (email: string, name: string) => post('/customer-register', { email, name, uniqueUserId: 'known' })
    expect(await register(address(254), 'n'.repeat(200))).toBe(200)
    expect(await register(address(255), 'n')).toBe(400)
    expect(await register(address(254), 'n'.repeat(201))).toBe(400)
    expect(await post('/generations', { ...order, customerEmail: address(255) })).toBe(400)
  })

  it('a poll with an ID that nobody knows remembers nobody', async () => {
    const inner = memoryStore()
    const saved = new Set<string>()
    const store: Store = {
      ...inner,
      transaction: (work) =>
        inner.transaction((ledger) =>
          work({ ...ledger, saveVisitor: (visitor) => (saved.add(visitor.id), ledger.saveVisitor(visitor)) }),
        ),
    }
    const service = createService({
      config: parseConfig({ ...suiteConfig, generation: { previewAfterMs: 0, readyAfterMs: 0 } }),
      publicUrl: 'http://service.test',
      store,
      ...undrawn,
    })
    open.push(service)
    const call = async (path: string, init: RequestInit = {}) =>
      (await service.fetch(new Request(`http://service.test${path}`, { headers, ...init }))).json()
    const target = (await call('/uploads', { method: 'POST', body: '{"contentType":"image/png"}' })).data
    await service.fetch(
      new Request(target.uploadUrl, { method: 'PUT', body: png, headers: { 'Content-Type': 'image/png' } }),
    )
    const body = JSON.stringify({ ...order, imageUrl: target.imageUrl, uniqueUserId: 'known' })
    const { jobId } = (await call('/generations', { method: 'POST', body })).data
    await expect.poll(async () => (await store.job(jobId))?.state).toBe('rendered')
    const polled = (await call(`/generations/${jobId}?uniqueUserId=stranger`)).data
    expect(polled).toMatchObject({ status: 'SUCCESS', uniqueUserId: 'stranger', totalRequests: 0 })
    expect((await call(`/generations/${jobId}`)).data).toMatchObject({ uniqueUserId: 'known', totalRequests: 1 })
    expect([...saved]).toEqual(['known'])
  })
})

describe('clients that only connect', () => {
  it.runIf(existsSync('/proc/self/limits'))('leave the service the files that its database needs', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'service-'))
    onTestFinished(() => rm(folder, { recursive: true, maxRetries: 20, retryDelay: 500 }))
    const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
    const command = [process.execPath, '--conditions=fitting-room-source', main, '--sandbox', '--port', '0']
    const limited = ['-c', 'ulimit -n 500 && exec "$0" "$@"', ...command, '--data', folder]
    const child = spawn('bash', limited, { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const port = Number(/:(\d+)/.exec(line.toString())?.[1])
    const own = connect(port, '127.0.0.1')
    const body = JSON.stringify({ email: 'a@example.com' })
    const head = 'Host: a\r\nX-Service-SDK-Key: sandbox-key\r\nContent-Type: application/json\r\n'
    const answered = async () => {
      own.write(`POST /customer-register HTTP/1.1\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`)
      const [chunk] = (await once(own, 'data')) as [Buffer]
      return chunk.toString().slice(0, 12)
    }
    expect(await answered()).toBe('HTTP/1.1 200')
    let turnedAway = 0
    const others = Array.from({ length: 700 }, () =>
      connect(port, '127.0.0.1')
        .on('close', () => (turnedAway += 1))
        .on('error', () => {}),
    )
    // beside its own: a fifth of the 250 files that are left
    await expect.poll(() => turnedAway).toBe(651)
    expect(await answered()).toBe('HTTP/1.1 200')
    for (const other of others) other.destroy()
    own.destroy()
  })
})

describe('photos', () => {
  it('of a host that never answers keep no other job waiting', async () => {
    let release = () => {}
    const never = new Promise<never>((_, reject) => (release = () => reject(new Error('gone'))))
    const done: string[] = []
    const inner = memoryStore()
    const store: Store = {
      ...inner,
      run: (work, giveUp) => inner.run((id, stage) => work(id, stage).finally(() => done.push(id)), giveUp),
    }
    const picture = { bytes: new Uint8Array(1), type: 'image/jpeg' }
    const service = createService({
      config: parseConfig({
        ...suiteConfig,
        stores: suiteConfig.stores.map((each) => ({ ...each, email: null, tryOnCap: null })),
      }),
      publicUrl: 'http://service.test',
      store,
      report: () => {},
      blobs: { ...memoryBlobs(), get: async (name) => (name === 'never.png' ? never : picture) },
      generator: async () => ({ preview: picture, final: picture }),
    })
    const submit = async (name: string) => {
      const body = JSON.stringify({ ...order, imageUrl: `http://service.test/photos/${name}` })
      const answer = await service.fetch(
        new Request('http://service.test/generations', { method: 'POST', headers, body }),
      )
      return ((await answer.json()) as { data: { jobId: string } }).data.jobId
    }
    for (let count = 0; count < 3; count += 1) await submit('never.png')
    const innocent = await submit('there.png')
    await expect.poll(() => done).toContain(innocent)
    release()
    await service.close()
  })

  /** A service whose photos are taken as a test says, with an upload target of its own. */
  async function targetOf(takePhoto: PhotoIntake) {
    const service = createService({
      config: parseConfig(suiteConfig),
      publicUrl: 'http://service.test',
      takePhoto,
      report: () => {},
    })
    open.push(service)
    const body = JSON.stringify({ contentType: 'image/png' })
    const asked = await service.fetch(new Request('http://service.test/uploads', { method: 'POST', headers, body }))
    const { data } = (await asked.json()) as { data: { uploadUrl: string } }
    const put = () => {
      const init = { method: 'PUT', body: png, headers: { 'Content-Type': 'image/png' } }
      return service.fetch(new Request(data.uploadUrl, init))
    }
    return { put }
  }

  it('that took too much are not looked at again at their target', async () => {
    let looks = 0
    const { put } = await targetOf(async () => {
      looks++
      throw new PhotoTooCostly()
    })
    const answers = await Promise.all([put(), put(), put()])
    expect(answers.map(({ status }) => status)).toEqual([415, 415, 415])
    expect(looks).toBe(1)
  })

  it('and bodies that drip are answered in the end, and nothing of them is kept', async () => {
    const url = await served()
    const init = { method: 'POST', headers, body: '{"contentType":"image/png"}' }
    const { data } = (await (await fetch(`${url}/uploads`, init)).json()) as { data: Record<string, string> }
    const { pathname, search } = new URL(data['uploadUrl'] ?? '')
    const put = `PUT ${pathname}${search} HTTP/1.1\r\nContent-Type: image/png\r\n`
    const post = `POST /generations HTTP/1.1\r\nX-Service-SDK-Key: main-key\r\nContent-Type: application/json\r\n`
    const answers = await Promise.all([put, post].map((head) => dripped(url, head)))
    expect(answers.map((answer) => answer.slice(0, 12))).toEqual(['HTTP/1.1 400', 'HTTP/1.1 400'])
    for (const answer of answers) expect(answer).toContain('did not arrive in time')
    expect((await fetch(data['imageUrl'] ?? '')).status).toBe(404)
  })

  it('of a client of whom too many wait are asked for again', async () => {
    const { put } = await targetOf(async () => {
      throw new LineFull()
    })
    const answer = await put()
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '10'])
  })

  it('whose processes end again and again are no fault of theirs', async () => {
    let isBroken = true
    const { put } = await targetOf(async () => {
      if (isBroken) throw new EndsProcesses()
      return { bytes: png, type: 'image/png' }
    })
    expect((await put()).status).toBe(500)
    isBroken = false
    expect((await put()).status).toBe(200)
  })

  it('and pictures in files are sent as they are, and what is no name of one is not found', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'blobs-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const blobs = fileBlobs(join(folder, 'made'))
    const bytes = new Uint8Array(200_000).map((_, at) => at % 251)
    bytes.set(png)
    await blobs.put('a.png', { bytes, type: 'image/png' })
    // they are shoppers' own: no other user of the machine reads them
    if (process.platform !== 'win32') expect((await stat(join(folder, 'made'))).mode & 0o777).toBe(0o700)
    const server = await serve({ config: parseConfig(suiteConfig), blobs, report: () => {} }, 0)
    open.push(server)
    const answer = await fetch(`${server.url}/pictures/a.png`)
    expect([answer.headers.get('Content-Type'), answer.headers.get('Content-Length')]).toEqual(['image/png', '200000'])
    expect(new Uint8Array(await answer.arrayBuffer())).toEqual(bytes)
    expect((await fetch(`${server.url}/pictures/a.png`, { method: 'HEAD' })).status).toBe(200)
    for (const name of ['%2f', '..%2fa.png', 'a%00b', 'a'.repeat(300), 'b.png'])
      expect([name, (await fetch(`${server.url}/photos/${name}`)).status]).toEqual([name, 404])
  })

  it('are not blamed for a product’s picture that cannot be had, and who runs the service is told', async () => {
    const host = createServer((_, response) => response.writeHead(500).end()).listen(0, '127.0.0.1')
    await once(host, 'listening')
    onTestFinished(() => void host.close())
    const image = `http://127.0.0.1:${(host.address() as AddressInfo).port}/tee.png`
    const stores = suiteConfig.stores.map((store) => ({
      ...store,
      products: store.products.map((product) => (product.id === '1001' ? { ...product, image } : product)),
    }))
    const reports: Error[] = []
    const store = memoryStore()
    const service = createService({
      config: parseConfig({ ...suiteConfig, stores }),
      publicUrl: 'http://service.test',
      store,
      report: (error) => reports.push(error as Error),
      blobs: { ...memoryBlobs(), get: async () => ({ bytes: new Uint8Array(1), type: 'image/png' }) },
    })
    open.push(service)
    const body = JSON.stringify({ ...order, imageUrl: 'http://service.test/photos/a.png' })
    const answer = await service.fetch(
      new Request('http://service.test/generations', { method: 'POST', headers, body }),
    )
    const { data } = (await answer.json()) as { data: { jobId: string } }
    await expect.poll(async () => (await store.job(data.jobId))?.error).toBe('Generation failed')
    expect(reports.map(({ message }) => message)).toEqual(['the picture of product 1001 could not be had'])
  })
})

describe('behind a proxy', () => {
  it('gives the addresses that clients reach', async () => {
    const url = await served({ ...suiteConfig, publicUrl: 'https://try-on.example' })
    const answer = await fetch(`${url}/uploads`, { method: 'POST', headers, body: '{"contentType":"image/png"}' })
    const { data } = (await answer.json()) as { data: { uploadUrl: string; imageUrl: string } }
    expect(data.uploadUrl).toMatch(/^https:\/\/try-on\.example\/photos\//)
    expect(data.imageUrl).toMatch(/^https:\/\/try-on\.example\/photos\//)
  })

  it('believes whole networks of proxies, and counts a client’s whole IPv6 network as one', () => {
    expect(clientOf('10.1.2.3', '203.0.113.7', ['10.0.0.0/8'])).toBe('203.0.113.7')
    expect(clientOf('11.1.2.3', '203.0.113.7', ['10.0.0.0/8'])).toBe('11.1.2.3')
    expect(clientOf('fd00::1', '203.0.113.7, fd00::2', ['fd00::/8'])).toBe('203.0.113.7')
    expect(clientOf('::ffff:10.1.2.3', '203.0.113.7', ['::ffff:10.0.0.0/104'])).toBe('203.0.113.7')
    expect(clientOf('11.1.2.3', '203.0.113.7', ['::ffff:10.0.0.0/104'])).toBe('11.1.2.3')
    expect(clientOf('2001:db8:1:2:3:4:5:6', undefined, [])).toBe(clientOf('2001:db8:1:2::9', undefined, []))
    expect(clientOf('2001:db8:1:2::9', undefined, [])).not.toBe(clientOf('2001:db8:1:3::9', undefined, []))
  })

  it('forgets clients that were silent for a whole window, and looks at no other one to do so', () => {
    let now = 0
    let looks = 0
    const limiter = new IpLimiter({ now: () => (looks++, now) })
    for (let at = 0; at < 20_000; at += 1) limiter.count(`client ${at}`, 'getFunnel')
    expect(looks).toBe(20_000)
    now = 30_000
    for (let at = 0; at < 120; at += 1) limiter.count('client 0', 'getFunnel')
    now = 61_000
    expect(limiter.count('client 0', 'getFunnel')).toBeGreaterThan(0)
    expect(limiter.size).toBe(20_000)
    now = 122_000
    expect(limiter.count('client 0', 'getFunnel')).toBe(0)
    expect(limiter.size).toBe(1)
  })
})
