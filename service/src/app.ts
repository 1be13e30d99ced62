import type { Schema, TypeOf } from 'fitting-room/contract'
import { endpoints, keyHeader, type Operation } from 'fitting-room/contract'
import { Hono, type Context } from 'hono'
import ipaddr from 'ipaddr.js'
import { ApiProblem, badInput, ipLimit } from './api-problem.ts'
import { drain, readBody } from './body.ts'
import type { StoreConfig } from './config.ts'
import type { Core } from './core.ts'
import type { IpLimiter } from './ip-limiter.ts'
import type { BlobStore, Clock } from './ports.ts'
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
  limiter: IpLimiter
  blobs: BlobStore
  uploads: Uploads
  clock: Clock
  trustedProxies: readonly string[]
  /** Hears of failures that are nobody's input. */
  report: (error: unknown) => void
}

type Env = { Bindings: Connection }
type Handled = { data: unknown; spoil?: Spoil | null }

const largestBody = 64 * 1024

/** The HTTP side of the contract: order of checks, bodies, headers (contract §4, §5 and §7). */
export function createApp({ core, limiter, blobs, uploads, clock, trustedProxies, report }: AppParts): Hono<Env> {
  const app = new Hono<Env>()

  app.use(async (context, next) => {
    await next()
    await drain(context.req.raw)
    const { headers } = context.res
    headers.set('Access-Control-Allow-Origin', '*')
    headers.set('Access-Control-Allow-Headers', `Content-Type, ${keyHeader}`)
    headers.set('Access-Control-Allow-Methods', 'GET, POST, PUT, OPTIONS')
    headers.set('Access-Control-Expose-Headers', 'Retry-After')
    headers.set('Access-Control-Max-Age', '600')
    headers.set('X-Content-Type-Options', 'nosniff')
    // a browser repeats a POST by itself when a connection that it uses again dies
    if (context.req.header('Origin') !== undefined) headers.set('Connection', 'close')
  })

  const clientIp = (context: Context<Env>) =>
    addressOf(context.env?.ip ?? '127.0.0.1', context.req.header('X-Forwarded-For'), trustedProxies)

  function authorized(context: Context<Env>): StoreConfig {
    const store = core.storeOfKey(context.req.header(keyHeader) ?? null)
    if (store === null) throw new ApiProblem(401, { error: 'Unauthorized' })
    return store
  }

  /** Path and method are settled; then the IP count, the key, the input, and the operation itself. */
  async function handle<O extends Operation>(operation: O, context: Context<Env>): Promise<Response> {
    const ip = clientIp(context)
    const wait = limiter.count(ip, operation)
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
      context.req.raw.method === 'HEAD' ? notAllowed() : handle(operation as Operation, context),
    )
    app.options(route, () => new Response(null, { status: 204 }))
    app.all(route, notAllowed)
  }

  app.put('/photos/:name', async (context) => {
    const upload = uploads.verify(new URL(context.req.url), clock.now())
    const bytes = await readBody(context.req.raw, largestPhoto)
    if (upload === null) throw new ApiProblem(403, { error: 'Upload target is not valid or has expired' })
    const type = context.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase()
    if (type !== upload.type) throw new ApiProblem(415, { error: `This upload target takes ${upload.type}` })
    if (bytes === 'tooLarge') throw new ApiProblem(413, { error: 'The photo is larger than 20 MB' })
    if (bytes.length === 0) throw badInput('the photo is empty')
    await blobs.put(upload.name, { bytes, type })
    return new Response(null, { status: 200 })
  })
  app.options('/photos/:name', () => new Response(null, { status: 204 }))
  app.get('/photos/:name', (context) => picture(context))
  app.get('/pictures/:name', (context) => picture(context))
  app.all('/photos/:name', notAllowed)
  app.all('/pictures/:name', notAllowed)

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
    // a client that went away in the middle of its body is nobody's failure
    if (!context.req.raw.signal.aborted) report(error)
    return context.json({ error: 'Internal error' }, 500)
  })
  return app
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
    return [part, result?.data] as const
  })
  return Object.fromEntries(read) as unknown as Input<O>
}

async function jsonOf(request: Request): Promise<unknown> {
  const bytes = await readBody(request, largestBody)
  const type = request.headers.get('Content-Type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json') throw badInput('Content-Type must be application/json')
  if (bytes === 'tooLarge') throw badInput('the body is larger than 64 KiB')
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

function notAllowed(): Response {
  return Response.json({ error: 'Method not allowed' }, { status: 405 })
}

/** What an embedded service throws in place of an answer that is lost. */
export class AnswerLost extends TypeError {
  constructor() {
    super('the connection was closed before the answer')
  }
}

/** The client's address; a forwarded one counts only as far as trusted proxies vouch for it. */
function addressOf(socket: string, forwarded: string | undefined, trusted: readonly string[]): string {
  const proxies = new Set(trusted.map(canonical))
  let client = canonical(socket) ?? socket
  for (const hop of (forwarded?.split(',') ?? []).toReversed()) {
    const address = canonical(hop)
    if (!proxies.has(client) || address === null) break
    client = address
  }
  return client
}

/** One spelling for one address, without a port; null where it is none. */
function canonical(text: string): string | null {
  const bare = text
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    .replace(/^([\d.]+):\d+$/, '$1')
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : null
}
