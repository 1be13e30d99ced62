import type { Schema, TypeOf } from 'fitting-room/contract'
import { endpoints, keyHeader, type Operation } from 'fitting-room/contract'
import { Hono, type Context } from 'hono'
import { ApiProblem, badInput, ipLimit } from './api-problem.ts'
import { drain, readBody, type BodyLimits } from './body.ts'
import { clientOf } from './client-address.ts'
import type { StoreConfig } from './config.ts'
import type { Core } from './core.ts'
import { openApi } from './open-api.ts'
import type { Webhooks } from './provider/webhooks.ts'
import type { RequestCount } from './ip-limiter.ts'
import { PhotoNotReadable } from './photo-problems.ts'
import type { BlobStore, Clock, Observer, PhotoIntake, Store } from './ports.ts'
import type { Spoil } from './test-outcomes.ts'
import { largestPhoto, type Uploads } from './uploads.ts'

/** What the platform tells of a request. */
export interface Connection {
  /** The socket's address. */
  ip?: string
  /** Ends the connection without an answer. */
  drop?: () => void
}

export interface AppParts {
  core: Core
  limiter: RequestCount
  blobs: BlobStore
  uploads: Uploads
  takePhoto: PhotoIntake
  webhooks?: Webhooks | undefined
  /** A provider makes a job's pictures under that ID. */
  hear(jobId: string, id: string): Promise<void>
  keepPhoto: Store['keepPhoto']
  clock: Clock
  /** As they are now. */
  trustedProxies: () => readonly string[]
  /** Hears of failures that are nobody's input. */
  report: (error: unknown) => void
  observer?: Observer | undefined
}

type Env = { Bindings: Connection }
type Handled = { data: unknown; spoil?: Spoil | null }

/** A JSON body, and a photo over a poor connection. */
const bodyLimits: BodyLimits = { atMost: 64 * 1024, longestMs: 10_000 }
const photoLimits: BodyLimits = { atMost: largestPhoto, longestMs: 120_000 }

/** The HTTP side of the contract: order of checks, bodies, headers (contract §4, §5 and §7). */
export function createApp(parts: AppParts): Hono<Env> {
  const {
    core,
    limiter,
    blobs,
    uploads,
    takePhoto,
    keepPhoto,
    webhooks,
    hear,
    clock,
    trustedProxies,
    report,
    observer,
  } = parts
  const app = new Hono<Env>()

  app.use(async (context, next) => {
    const from = performance.now()
    await next()
    observer?.answered(nameOf(context), context.res.status, (performance.now() - from) / 1000)
    await drain(context.req.raw)
    const { headers } = context.res
    headers.set('Access-Control-Allow-Origin', '*')
    headers.set('Access-Control-Allow-Headers', `Content-Type, ${keyHeader}`)
    headers.set('Access-Control-Allow-Methods', 'GET, POST, PUT, OPTIONS')
    headers.set('Access-Control-Expose-Headers', 'Retry-After')
    headers.set('Access-Control-Max-Age', '600')
    headers.set('X-Content-Type-Options', 'nosniff')
    if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store')
    // a browser repeats a POST by itself when a connection that it uses again dies
    if (context.req.header('Origin') !== undefined) headers.set('Connection', 'close')
  })

  const clientIp = (context: Context<Env>) =>
    clientOf(context.env?.ip ?? '127.0.0.1', context.req.header('X-Forwarded-For'), trustedProxies())

  function authorized(context: Context<Env>): StoreConfig {
    const store = core.storeOfKey(context.req.header(keyHeader) ?? null)
    if (store === null) throw new ApiProblem(401, { error: 'Unauthorized' })
    return store
  }

  /** Path and method are settled; then the IP count, the key, the input, and the operation itself. */
  async function handle<O extends Operation>(operation: O, context: Context<Env>): Promise<Response> {
    const ip = clientIp(context)
    const wait = await limiter.count(ip, operation)
    if (wait > 0) throw ipLimit(wait)
    const store = authorized(context)
    const input = await inputOf(operation, context)
    const { data, spoil } = await operations[operation](store, ip, input)
    if (spoil === 'lost') context.env.drop?.()
    if (spoil === 'error') throw new ApiProblem(500, { error: 'Internal error' })
    return context.json({ data: spoil === 'malformed' ? { jobId: 7, etaSeconds: 'soon' } : data })
  }

  const operations: {
    [O in Operation]: (store: StoreConfig, ip: string, input: Input<O>) => Handled | Promise<Handled>
  } = {
    getContext: (store) => ({ data: core.context(store) }),
    getFunnel: (store, _ip, { query }) => ({ data: core.funnel(store, query.funnelIds.split(',').map(Number)) }),
    createUpload: (_store, _ip, { body }) => ({ data: core.upload(body) }),
    getRequestsLeft: async (store, ip, { query }) => ({ data: await core.visitor(store, ip, query.uniqueUserId) }),
    registerCustomer: async (store, ip, { body }) => ({ data: await core.register(store, ip, body) }),
    getGeneration: async (store, _ip, { params, query }) => ({
      data: await core.poll(store, params.jobId, query.uniqueUserId),
    }),
    createGeneration: async (store, ip, { body }) => {
      const { started, spoil } = await core.generate(store, ip, body)
      return { data: started, spoil }
    },
  }

  for (const [operation, { method, path }] of Object.entries(endpoints)) {
    const route = path.replace('{jobId}', ':jobId')
    app.on(method, route, (context) =>
      // hono answers HEAD by GET; the contract knows no HEAD
      context.req.raw.method === 'HEAD' ? notAllowed(method) : handle(operation as Operation, context),
    )
    app.options(route, () => new Response(null, { status: 204 }))
    app.all(route, () => notAllowed(method))
  }

  app.get('/openapi.json', (context) => context.json(openApi))
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
    return new Response(null, { status: 200 })
  })
  app.post('/webhooks/:jobId/:signature', async (context) => {
    const { jobId, signature } = context.req.param()
    if (!webhooks?.isOf(jobId, signature)) throw new ApiProblem(404, { error: 'Not found' })
    const { id } = Object(await jsonOf(context.req.raw)) as { id?: unknown }
    if (typeof id !== 'string' || id === '') throw badInput('body.id is missing or not valid')
    await hear(jobId, id)
    return new Response(null, { status: 200 })
  })
  app.options('/photos/:name', () => new Response(null, { status: 204 }))
  app.get('/photos/:name', (context) => picture(context))
  app.get('/pictures/:name', (context) => picture(context))
  app.all('/photos/:name', () => notAllowed('GET, PUT'))
  app.all('/pictures/:name', () => notAllowed('GET'))

  async function picture(context: Context<Env>): Promise<Response> {
    const blob = await blobs.get(context.req.param('name') ?? '')
    if (blob === null) throw new ApiProblem(404, { error: 'Picture not found' })
    return new Response(blob.bytes, {
      headers: {
        'Content-Type': blob.type,
        'Cache-Control': 'private, max-age=3600',
        'Content-Security-Policy': "default-src 'none'; sandbox",
        'Cross-Origin-Resource-Policy': 'cross-origin',
      },
    })
  }

  app.notFound((context) => context.json({ error: 'Not found' }, 404))
  app.onError((error, context) => {
    if (error instanceof ApiProblem) return answerOf(error)
    if (error instanceof PhotoNotReadable) return answerOf(new ApiProblem(415, { error: error.message }))
    // a client that went away in the middle of its body is nobody's failure
    if (!context.req.raw.signal.aborted) report(error)
    return context.json({ error: 'Internal error' }, 500)
  })
  return app
}

const operationAt = new Map(
  Object.entries(endpoints).map(([operation, { method, path }]) => [`${method} ${path}`, operation]),
)

/** The operation, or what else was asked for: never a path, of which there may be any number. */
function nameOf({ req }: Context<Env>): string {
  const [, first = ''] = req.path.split('/')
  const isOfJob = first === 'generations' && req.path !== '/generations'
  const known = operationAt.get(`${req.method} /${first}${isOfJob ? '/{jobId}' : ''}`)
  return known ?? (first === 'photos' || first === 'pictures' ? first : 'other')
}

type Endpoint<O extends Operation> = (typeof endpoints)[O]

/** What an operation takes, by the contract. */
interface Input<O extends Operation> {
  params: TypeOf<Endpoint<O>['params']>
  query: TypeOf<Endpoint<O>['query']>
  body: Endpoint<O>['body'] extends Schema<unknown> ? TypeOf<Endpoint<O>['body']> : undefined
}

/** Reads and checks params, query and body by the contract; the message names the first field that does not fit. */
async function inputOf<O extends Operation>(operation: O, { req }: Context<Env>): Promise<Input<O>> {
  const { params, query, body } = endpoints[operation]
  const given: [keyof Input<O>, Schema<unknown> | null, unknown][] = [
    ['params', params, req.param()],
    ['query', query, req.query()],
    ['body', body, body && (await jsonOf(req.raw))],
  ]
  const read = given.map(([part, schema, value]) => {
    const result = schema?.safeParse(value)
    if (result?.success === false) {
      throw badInput(`${result.path || part} is missing or not valid`)
    }
    if (hasLongId(result?.data)) throw badInput(`${part} has a uniqueUserId of more than ${longestId} characters`)
    if (hasUnstorable(result?.data)) throw badInput(`${part} has characters that can not be kept`)
    return [part, result?.data] as const
  })
  return Object.fromEntries(read) as unknown as Input<O>
}

/** What a shopper's ID may have, in characters. */
const longestId = 1_024
const hasLongId = (input: unknown) => String(Object(input).uniqueUserId ?? '').length > longestId

/** NUL and half of a surrogate pair are no text to a database. */
const hasUnstorable = (input: unknown) =>
  Object.values(Object(input)).some((value) => typeof value === 'string' && /[\0\p{Surrogate}]/u.test(value))

async function jsonOf(request: Request): Promise<unknown> {
  const bytes = await readBody(request, bodyLimits)
  const type = request.headers.get('Content-Type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw badInput('Content-Type must be application/json')
  if (bytes === 'tooLarge') throw badInput('the body is larger than 64 KiB')
  if (bytes === 'tooSlow') throw badInput('the body did not arrive in time')
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw badInput('the body is not JSON')
  }
}

function answerOf({ status, body, retryAfterSeconds }: ApiProblem): Response {
  const headers = retryAfterSeconds === null ? {} : { 'Retry-After': String(retryAfterSeconds) }
  return Response.json(body, { status, headers })
}

function notAllowed(allowed: string): Response {
  return Response.json({ error: 'Method not allowed' }, { status: 405, headers: { Allow: `${allowed}, OPTIONS` } })
}

/** What an embedded service throws in place of an answer that is lost. */
export class AnswerLost extends TypeError {
  constructor() {
    super('the connection was closed before the answer')
  }
}
