import { beforeAll, afterAll, describe, expect, it } from 'vitest'
import { endpoints, jobId as jobIdSchema, type Operation } from 'fitting-room/contract'

export const png = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
  (char) => char.charCodeAt(0),
)

/** A running service as the suite sees it: requests go in by `fetch`, time by `advance`. */
export interface Subject {
  fetch(path: string, init?: RequestInit): Promise<Response>
  url: string
  advance(ms: number): void
  /** Resolves when every queued job is rendered or has failed. */
  rendered(): Promise<void>
  close(): Promise<void>
}

interface Answer {
  status: number
  body: any
  headers: Headers
}

/** The whole contract of spec.md, run against any way to reach the service. */
export function contractSuite(name: string, start: () => Promise<Subject>): void {
  describe(`the contract, ${name}`, () => {
    let subject: Subject
    let visitors = 0
    beforeAll(async () => {
      subject = await start()
    })
    afterAll(() => subject.close())

    const call = async (path: string, init: RequestInit & { key?: string | null } = {}): Promise<Answer> => {
      const { key = 'main-key', ...rest } = init
      const headers = { ...(key !== null && { 'X-Service-SDK-Key': key }), ...(rest.headers as Record<string, string>) }
      const answer = await subject.fetch(path, { ...rest, headers })
      const text = await answer.text()
      return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
    }
    const post = (path: string, body: unknown, init: RequestInit & { key?: string } = {}) =>
      call(path, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'Content-Type': 'application/json' },
        ...init,
      })
    const newVisitor = () => `visitor-${++visitors}-${name}`
    const request = (more: object = {}) => ({
      funnelId: 12,
      productId: '1001',
      variantId: '2001',
      imageUrl: `${subject.url}/photos/none.png`,
      uniqueUserId: newVisitor(),
      ...more,
    })
    const upload = async () => {
      const { body } = await post('/uploads', { contentType: 'image/png' })
      await subject.fetch(pathOf(body.data.uploadUrl), {
        method: 'PUT',
        body: png,
        headers: { 'Content-Type': 'image/png' },
      })
      return body.data.imageUrl as string
    }
    const pathOf = (url: string) => url.slice(subject.url.length)
    /** The job once it is rendered and `ms` have passed. */
    const polled = async (jobId: string, ms = 0, key = 'main-key') => {
      await subject.rendered()
      subject.advance(ms)
      return (await call(`/generations/${jobId}`, { key })).body.data
    }
    /** Leaves the 60 s window, so that one test's requests do not throttle the next. */
    const calm = () => subject.advance(61_000)

    describe('§2 and §4: resources and operations', () => {
      it('GET /context returns the storefront', async () => {
        const { status, body } = await call('/context')
        expect(status).toBe(200)
        expect(body.data).toEqual({ storefront: { apiUrl: 'https://storefront.example/api', publicToken: 'public' } })
      })

      it('GET /funnel returns the first candidate of the store in the given order', async () => {
        expect((await call('/funnel?funnelIds=99,13,12')).body.data).toEqual({
          id: 13,
          funnelType: 'dress',
          generationModel: 'SERVICE_PRO',
        })
      })

      it('GET /funnel is 404 when no candidate is in the store (§4 rule 5)', async () => {
        expect((await call('/funnel?funnelIds=99')).status).toBe(404)
      })

      it.each([
        '',
        '?funnelIds=',
        '?funnelIds=0',
        '?funnelIds=1,,2',
        '?funnelIds=-1',
        '?funnelIds=a',
        '?funnelIds=1.5',
      ])('GET /funnel%s is 400', async (query) => {
        expect((await call(`/funnel${query}`)).status).toBe(400)
      })

      it('POST /uploads signs a target that takes the photo and makes its URL readable (§4 rule 7)', async () => {
        const { status, body } = await post('/uploads', { contentType: 'image/png', customKey: 'Look_1-a' })
        expect(status).toBe(200)
        expect(body.data.imageUrl).toContain('Look_1-a')
        const put = await subject.fetch(pathOf(body.data.uploadUrl), {
          method: 'PUT',
          body: png,
          headers: { 'Content-Type': 'image/png' },
        })
        expect(put.status).toBe(200)
        const photo = await subject.fetch(pathOf(body.data.imageUrl))
        expect(photo.headers.get('Content-Type')).toBe('image/png')
        expect(photo.headers.get('X-Content-Type-Options')).toBe('nosniff')
        // drawn anew where the service has something to draw with: a PNG of that width and height
        expect(new Uint8Array(await photo.arrayBuffer()).slice(0, 24)).toEqual(png.slice(0, 24))
      })

      it.each([
        ['no type', {}],
        ['an unknown type', { contentType: 'image/gif' }],
        ['an empty customKey', { contentType: 'image/png', customKey: '' }],
        ['a customKey of 101 characters', { contentType: 'image/png', customKey: 'x'.repeat(101) }],
        ['a customKey with a slash', { contentType: 'image/png', customKey: '../x' }],
      ])('POST /uploads with %s is 400', async (_, body) => {
        expect((await post('/uploads', body)).status).toBe(400)
      })

      it.each(['image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/heif', 'image/avif'])(
        'POST /uploads takes %s',
        async (contentType) => {
          expect((await post('/uploads', { contentType })).status).toBe(200)
        },
      )

      it('an upload target refuses another type, an altered signature, and 600 s later everything', async () => {
        const { body } = await post('/uploads', { contentType: 'image/png' })
        const put = (url: string, type: string) =>
          subject.fetch(pathOf(url), { method: 'PUT', body: png, headers: { 'Content-Type': type } })
        const { uploadUrl } = body.data
        expect((await put(uploadUrl, 'image/jpeg')).status).toBe(415)
        expect((await put(uploadUrl.replace('image%2Fpng', 'image%2Fjpeg'), 'image/jpeg')).status).toBe(403)
        expect(
          (
            await put(
              uploadUrl.replace(/signature=./, (part: string) => (part.endsWith('A') ? 'signature=B' : 'signature=A')),
              'image/png',
            )
          ).status,
        ).toBe(403)
        subject.advance(599_000)
        expect((await put(uploadUrl, 'image/png')).status).toBe(200)
        subject.advance(1_000)
        expect((await put(uploadUrl, 'image/png')).status).toBe(403)
      })

      it('an upload target refuses more than 20 MB, with an answer', async () => {
        const { body } = await post('/uploads', { contentType: 'image/png' })
        const put = await subject.fetch(pathOf(body.data.uploadUrl), {
          method: 'PUT',
          body: new Uint8Array(20 * 1024 * 1024 + 1),
          headers: { 'Content-Type': 'image/png' },
        })
        expect(put.status).toBe(413)
      })

      it('GET /requests-left makes an anonymous visitor for the address, and keeps it', async () => {
        const first = await call('/requests-left')
        expect(first.body.data).toMatchObject({ requestsLeft: 2, totalRequests: 0 })
        expect(first.body.data.uniqueUserId).toEqual(expect.any(String))
        expect((await call('/requests-left')).body.data.uniqueUserId).toBe(first.body.data.uniqueUserId)
      })

      it('GET /requests-left takes an unknown visitor ID over as it is; an empty one is 400', async () => {
        const id = newVisitor()
        expect((await call(`/requests-left?uniqueUserId=${id}`)).body.data.uniqueUserId).toBe(id)
        expect((await call('/requests-left?uniqueUserId=')).status).toBe(400)
      })

      it('requestsLeft is -1 where e-mail collection is off', async () => {
        expect((await call('/requests-left', { key: 'other-key' })).body.data.requestsLeft).toBe(-1)
      })

      it('POST /customer-register saves the e-mail, after which no limit is left', async () => {
        const uniqueUserId = newVisitor()
        const { status, body } = await post('/customer-register', {
          email: 'ada@example.com',
          name: 'Ada',
          uniqueUserId,
        })
        expect(status).toBe(200)
        expect(body.data).toEqual({ requestsLeft: -1, totalRequests: 0, uniqueUserId })
      })

      it.each([
        ['no e-mail', {}],
        ['a bad e-mail', { email: 'nobody' }],
        ['an empty name', { email: 'a@example.com', name: '' }],
        ['an empty visitor ID', { email: 'a@example.com', uniqueUserId: '' }],
      ])('POST /customer-register with %s is 400: a visitor registration problem (§7)', async (_, body) => {
        expect((await post('/customer-register', body)).status).toBe(400)
      })

      it('POST /generations returns a job ID, an estimate of 40 s and the visitor', async () => {
        const body = request()
        const { status, body: answer } = await post('/generations', body)
        expect(status).toBe(200)
        expect(jobIdSchema.safeParse(answer.data.jobId).success).toBe(true)
        expect(answer.data).toMatchObject({ etaSeconds: 40, uniqueUserId: body.uniqueUserId })
      })

      it.each([
        ['a number', 1001, 2001],
        ['digits', '1001', '2001'],
        ['a global ID', 'gid://shopify/Product/1001', 'gid://my-platform2/ProductVariant/2001'],
        ['leading zeros', '0001001', '02001'],
        ['an ID beyond safe integers', '1001', '9007199254740993'],
      ])('POST /generations takes product and variant IDs as %s', async (_, productId, variantId) => {
        expect((await post('/generations', request({ productId, variantId }))).status).toBe(200)
      })

      it('an ID beyond safe integers keeps its last digit', async () => {
        expect((await post('/generations', request({ variantId: '9007199254740992' }))).status).toBe(404)
      })

      it.each([
        ['funnelId 0', { funnelId: 0 }],
        ['funnelId as a string', { funnelId: '12' }],
        ['no productId', { productId: undefined }],
        ['productId "0"', { productId: '0' }],
        ['productId 1.5', { productId: 1.5 }],
        ['productId above the largest safe integer', { productId: 9007199254740992 }],
        ['a variant’s global ID as productId', { productId: 'gid://shopify/ProductVariant/1001' }],
        ['a negative variantId', { variantId: '-1' }],
        ['a hostile variantId', { variantId: "2001'; DROP TABLE jobs; --" }],
        ['no imageUrl', { imageUrl: undefined }],
        ['an imageUrl that is no URL', { imageUrl: 'photo.png' }],
        ['a file imageUrl', { imageUrl: 'file:///etc/passwd' }],
        ['an empty uniqueUserId', { uniqueUserId: '' }],
        ['a bad customerEmail', { customerEmail: 'nobody@' }],
        ['moreLooksConsent as text', { moreLooksConsent: 'yes' }],
      ])('POST /generations with %s is 400', async (_, more) => {
        calm()
        expect((await post('/generations', request(more))).status).toBe(400)
      })

      it('GET /generations/{jobId} goes from PROCESSING over a PENDING preview to READY', async () => {
        const uniqueUserId = newVisitor()
        const started = await post('/generations', request({ imageUrl: await upload(), uniqueUserId }))
        const { jobId } = started.body.data
        expect((await call(`/generations/${jobId}`)).body.data).toEqual({ status: 'PROCESSING' })
        expect(await polled(jobId, 900)).toEqual({ status: 'PROCESSING' })
        const preview = await polled(jobId, 100)
        expect(preview).toMatchObject({ status: 'SUCCESS', storageStatus: 'PENDING', permanentUrl: null, uniqueUserId })
        const ready = await polled(jobId, 1000)
        expect(ready).toMatchObject({ status: 'SUCCESS', requestsLeft: 1, totalRequests: 1, uniqueUserId })
        expect(ready.permanentUrl).not.toBe(preview.imageUrl)
        const picture = await subject.fetch(pathOf(ready.permanentUrl))
        expect(picture.headers.get('Content-Type')).toBe('image/jpeg')
        expect(new Uint8Array(await picture.arrayBuffer()).slice(0, 3)).toEqual(new Uint8Array([0xff, 0xd8, 0xff]))
      })

      it('a poll shows the accounting of the visitor that it sends, and needs none', async () => {
        const started = await post('/generations', request({ imageUrl: await upload() }))
        const { jobId } = started.body.data
        await polled(jobId, 1000)
        const other = newVisitor()
        const answer = await call(`/generations/${jobId}?uniqueUserId=${other}`)
        expect(answer.body.data).toMatchObject({ totalRequests: 0, uniqueUserId: other })
      })

      it('an inaccessible photo fails the job after it was accepted, as ERROR with HTTP 200 (§3)', async () => {
        calm()
        const { body } = await post('/generations', request())
        const job = await polled(body.data.jobId)
        expect(job).toEqual({ status: 'ERROR', error: 'The photo is not accessible' })
      })

      it.each([
        'http://127.0.0.1:1/x.png',
        'http://localhost/x.png',
        'http://[::1]/x.png',
        'http://169.254.169.254/',
        'http://10.0.0.1/x',
      ])('the photo fetcher refuses %s', async (imageUrl) => {
        const { body } = await post('/generations', request({ imageUrl }))
        const job = await polled(body.data.jobId)
        expect(job).toEqual({ status: 'ERROR', error: 'The photo is not accessible' })
      })

      it('a photo that is no picture is refused by its target, before anybody pays for it', async () => {
        const { body } = await post('/uploads', { contentType: 'image/png' })
        const put = await subject.fetch(pathOf(body.data.uploadUrl), {
          method: 'PUT',
          body: 'not a picture',
          headers: { 'Content-Type': 'image/png' },
        })
        expect([put.status, await put.json()]).toEqual([415, { error: 'The photo is not readable as an image' }])
        expect((await subject.fetch(pathOf(body.data.imageUrl))).status).toBe(404)
      })

      it('a sold-out variant is not rejected (§3)', async () => {
        expect((await post('/generations', request({ variantId: '2002' }))).status).toBe(200)
      })

      it('two equal submissions are two jobs: there is no idempotency key (§1)', async () => {
        calm()
        const body = request()
        const first = await post('/generations', body)
        const second = await post('/generations', body)
        expect(first.body.data.jobId).not.toBe(second.body.data.jobId)
      })

      it('a job ID that is no UUID is 400, an unknown or foreign one 404 (§4 rule 6)', async () => {
        expect((await call('/generations/7')).status).toBe(400)
        expect((await call('/generations/6f9619ff-8b86-4d01-b42d-00cf4fc964ff')).status).toBe(404)
        const { body } = await post('/generations', request())
        expect((await call(`/generations/${body.data.jobId}`, { key: 'other-key' })).status).toBe(404)
      })
    })

    describe('§5: authentication and CORS', () => {
      const paths: [Operation, string][] = Object.entries(endpoints).map(([operation, { path }]) => [
        operation as Operation,
        path.replace('{jobId}', '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'),
      ])

      it.each(paths)('%s without, with a wrong and with a disconnected key is 401', async (operation, path) => {
        calm()
        const init = { method: endpoints[operation].method }
        for (const key of [null, 'wrong', 'closed-key']) {
          const { status, body } = await call(path, { ...init, key })
          expect([status, body]).toEqual([401, { error: 'Unauthorized' }])
        }
        const bearer = await call(path, { ...init, key: null, headers: { Authorization: 'Bearer main-key' } })
        expect(bearer.status).toBe(401)
      })

      it.each(paths)('%s: OPTIONS is 204 without a key, with the CORS headers', async (_, path) => {
        const { status, body, headers } = await call(path, { method: 'OPTIONS', key: null })
        expect([status, body]).toEqual([204, null])
        expect(headers.get('Access-Control-Allow-Origin')).toBe('*')
        expect(headers.get('Access-Control-Allow-Headers')).toBe('Content-Type, X-Service-SDK-Key')
        expect(headers.get('Access-Control-Expose-Headers')).toBe('Retry-After')
      })

      it.each(paths)('%s: another method is 405 with an error body and CORS headers', async (_, path) => {
        const { status, body, headers } = await call(path, { method: 'DELETE' })
        expect([status, body]).toEqual([405, { error: 'Method not allowed' }])
        expect(headers.get('Access-Control-Allow-Origin')).toBe('*')
      })

      it('HEAD is not a method of the contract', async () => {
        expect((await subject.fetch('/requests-left', { method: 'HEAD' })).status).toBe(405)
      })

      it('an API-only key gets 403 SDK_NOT_CONFIGURED from GET /context, and nothing else less (§4 rule 1)', async () => {
        const { status, body } = await call('/context', { key: 'other-key' })
        expect([status, body.code]).toEqual([403, 'SDK_NOT_CONFIGURED'])
        expect((await call('/funnel?funnelIds=99', { key: 'other-key' })).status).toBe(200)
      })

      it('answers to a browser close their connection', async () => {
        const { headers } = await call('/context', { headers: { Origin: 'https://shop.example' } })
        expect(headers.get('Connection')).toBe('close')
      })
    })

    it('takes its own pictures as photos, and two PUTs to one target at once', async () => {
      calm()
      const target = (await post('/uploads', { contentType: 'image/png' })).body.data
      const put = () =>
        subject.fetch(pathOf(target.uploadUrl), { method: 'PUT', body: png, headers: { 'Content-Type': 'image/png' } })
      expect((await Promise.all([put(), put(), put()])).map(({ status }) => status)).toEqual([200, 200, 200])
      const first = await post('/generations', request({ imageUrl: `${target.imageUrl}?v=1` }))
      const { permanentUrl } = await polled(first.body.data.jobId, 2000)
      const second = await post('/generations', request({ imageUrl: permanentUrl }))
      expect((await polled(second.body.data.jobId, 2000)).status).toBe('SUCCESS')
    })

    describe('§7: error situations', () => {
      it('a product outside the funnel is 403 without a code (§4 rule 2)', async () => {
        calm()
        const { status, body } = await post('/generations', request({ funnelId: 13 }))
        expect([status, body]).toEqual([403, { error: 'Product is not assigned to this funnel' }])
      })

      it.each([
        ['product', { productId: '3001' }],
        ['variant', { variantId: '4001' }],
        ['funnel', { funnelId: 99 }],
      ])('a %s of another store is 404 (§4 rule 3)', async (_, more) => {
        expect((await post('/generations', request(more))).status).toBe(404)
      })

      it('a product without a picture is 400', async () => {
        const { status, body } = await post('/generations', request({ productId: '1002', variantId: '2101' }))
        expect(status).toBe(400)
        expect(body.message).toContain('no image')
      })

      it('the e-mail gate: EMAIL_REQUIRED, then register, then the same submission passes (§4 rule 9)', async () => {
        const body = request()
        await post('/generations', body)
        await post('/generations', body)
        const refused = await post('/generations', body)
        expect([refused.status, refused.body]).toEqual([403, { error: 'email_required', code: 'EMAIL_REQUIRED' }])
        await post('/customer-register', { email: 'ada@example.com', uniqueUserId: body.uniqueUserId })
        expect((await post('/generations', body)).status).toBe(200)
      })

      it('customerEmail opens the gate like a registration', async () => {
        const body = request()
        await post('/generations', body)
        await post('/generations', body)
        expect((await post('/generations', { ...body, customerEmail: 'ada@example.com' })).status).toBe(200)
      })

      it('the try-on cap: 429 with the merchant’s text, no Retry-After, and free again after the window', async () => {
        calm()
        const body = request({ customerEmail: 'ada@example.com' })
        for (let count = 0; count < 4; count++) expect((await post('/generations', body)).status).toBe(200)
        const refused = await post('/generations', body)
        expect([refused.status, refused.body]).toEqual([
          429,
          { error: 'try_on_limit_reached', code: 'TRY_ON_LIMIT_REACHED', message: 'Come back tomorrow!' },
        ])
        expect(refused.headers.get('Retry-After')).toBeNull()
        subject.advance(3_600_000)
        expect((await post('/generations', body)).status).toBe(200)
      })

      it('credits: 500 when they are used up, and given back by a failed job (§4 rule 4)', async () => {
        calm()
        const key = 'other-key'
        const order = { funnelId: 99, productId: '3001', variantId: '4002', imageUrl: `${subject.url}/photos/none.png` }
        const failing = await post('/generations', order, { key })
        expect((await polled(failing.body.data.jobId, 0, key)).status).toBe('ERROR')
        const photo = await upload()
        const paid = await post('/generations', { ...order, variantId: '4001', imageUrl: photo }, { key })
        expect(paid.status).toBe(200)
        expect((await polled(paid.body.data.jobId, 1000, key)).status).toBe('SUCCESS')
        const refused = await post('/generations', order, { key })
        expect([refused.status, refused.body]).toEqual([500, { error: 'Could not create generation' }])
      })

      it('bad bodies are 400 with the contract’s error body and never a stack trace', async () => {
        calm()
        const json = { 'Content-Type': 'application/json' }
        const bad: [string, RequestInit][] = [
          ['no body', { headers: json }],
          ['broken JSON', { headers: json, body: '{"email":' }],
          ['not an object', { headers: json, body: '[]' }],
          ['null', { headers: json, body: 'null' }],
          ['not UTF-8', { headers: json, body: new Uint8Array([0x22, 0xff, 0x22]) }],
          ['another type', { headers: { 'Content-Type': 'text/plain' }, body: '{"email":"a@example.com"}' }],
          [
            'over 64 KiB',
            { headers: json, body: JSON.stringify({ email: 'a@example.com', name: 'x'.repeat(65_536) }) },
          ],
          ['a deep body', { headers: json, body: `${'['.repeat(20_000)}${']'.repeat(20_000)}` }],
        ]
        for (const [what, init] of bad) {
          const { status, body } = await call('/customer-register', { method: 'POST', ...init })
          expect([what, status, Object.keys(body)]).toEqual([what, 400, ['error', 'message']])
          expect(JSON.stringify(body)).not.toMatch(/ at |\.ts|Error:/)
        }
        expect((await call('/context')).status).toBe(200)
      })

      it('a refusal before the body is read reaches the client all the same', async () => {
        for (const path of ['/generations', '/nowhere', '/photos/x']) {
          const body = new Uint8Array(8 * 1024 * 1024)
          const init = { method: 'POST', body, headers: { Origin: 'https://shop.example' }, key: null }
          expect((await call(path, init)).status).toBeGreaterThanOrEqual(401)
        }
      })

      it('an unknown route is 404 with an error body', async () => {
        for (const path of [
          '/',
          '/generation',
          '/generations/a/b',
          '/photos/../secret',
          '/pictures/..%2f..%2fetc%2fpasswd',
        ]) {
          const { status, body } = await call(path)
          expect([path, status, typeof body.error]).toEqual([path, 404, 'string'])
        }
      })
    })

    describe('§8: the shared IP limit', () => {
      it.each(
        Object.entries(endpoints).map(([operation, { threshold }]) => [operation as Operation, threshold] as const),
      )('%s accepts a shared count of %i and refuses the next, with Retry-After', async (operation, threshold) => {
        calm()
        const { method, path } = endpoints[operation]
        const target = path.replace('{jobId}', '6f9619ff-8b86-4d01-b42d-00cf4fc964ff')
        for (let count = 1; count < threshold; count++) await call('/context', { key: null })
        const send = () =>
          call(`${target}?funnelIds=12`, {
            method,
            ...(method === 'POST' && { body: '{}', headers: { 'Content-Type': 'application/json' } }),
          })
        expect((await send()).status).not.toBe(429)
        const refused = await send()
        expect([refused.status, refused.body.error]).toEqual([429, 'Rate limit exceeded'])
        expect(refused.body.message).toContain('Too many requests')
        const seconds = Number(refused.headers.get('Retry-After'))
        expect(seconds).toBeGreaterThanOrEqual(1)
        subject.advance((seconds - 1) * 1000)
        subject.advance(1000)
        expect((await send()).status).not.toBe(429)
      })

      it('OPTIONS and unknown paths are not counted', async () => {
        calm()
        for (let count = 0; count < 130; count++) await call('/context', { method: 'OPTIONS', key: null })
        for (let count = 0; count < 130; count++) await call('/nowhere')
        expect((await call('/context')).status).toBe(200)
      })
    })

    describe('test variants', () => {
      it('2003 fails its job', async () => {
        calm()
        const { body } = await post('/generations', request({ variantId: '2003', imageUrl: await upload() }))
        expect(await polled(body.data.jobId)).toEqual({
          status: 'ERROR',
          error: 'Generation failed',
        })
      })

      it('2004 loses the answer after accepting', async () => {
        const body = request({ variantId: '2004' })
        await expect(post('/generations', body)).rejects.toThrow(TypeError)
        const left = await call(`/requests-left?uniqueUserId=${body.uniqueUserId}`)
        expect(left.body.data.totalRequests).toBe(1)
      })

      it('2005 answers 500 after accepting', async () => {
        const body = request({ variantId: '2005' })
        expect((await post('/generations', body)).status).toBe(500)
        const left = await call(`/requests-left?uniqueUserId=${body.uniqueUserId}`)
        expect(left.body.data.totalRequests).toBe(1)
      })

      it('2006 answers 200 against the contract', async () => {
        const { status, body } = await post('/generations', request({ variantId: '2006' }))
        expect(status).toBe(200)
        expect(endpoints.createGeneration.data.safeParse(body.data).success).toBe(false)
      })

      it('2007 throttles once, 2010 refuses the key once', async () => {
        for (const [variantId, status] of [
          ['2007', 429],
          ['2010', 401],
        ] as const) {
          const body = request({ variantId })
          expect((await post('/generations', body)).status).toBe(status)
          expect((await post('/generations', body)).status).toBe(200)
        }
      })

      it('2009 asks again for an e-mail that is known, and then passes', async () => {
        const body = request({ variantId: '2009' })
        expect((await post('/generations', body)).body.code).toBe('EMAIL_REQUIRED')
        expect((await post('/generations', body)).body.code).toBe('EMAIL_REQUIRED')
        await post('/customer-register', { email: 'ada@example.com', uniqueUserId: body.uniqueUserId })
        expect((await post('/generations', body)).status).toBe(200)
        expect((await post('/generations', body)).body.code).toBe('EMAIL_REQUIRED')
        expect((await post('/generations', body)).status).toBe(200)
      })

      it('2008 is over the limit; 2009 wants an e-mail', async () => {
        expect((await post('/generations', request({ variantId: '2008' }))).body.code).toBe('TRY_ON_LIMIT_REACHED')
        expect((await post('/generations', request({ variantId: '2009' }))).body.code).toBe('EMAIL_REQUIRED')
        const body = request({ variantId: '2009', customerEmail: 'ada@example.com' })
        expect((await post('/generations', body)).status).toBe(200)
      })
    })
  })
}
