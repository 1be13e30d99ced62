import { endpoints, keyHeader, type Operation } from 'fitting-room/contract'
import { Hono, type Context } from 'hono'
import { ApiProblem, badInput, ipLimit, notAllowed } from './api-problem.ts'
import { drain } from './body.ts'
import { clientOf } from './client-address.ts'
import type { StoreConfig } from './config.ts'
import type { Core } from './core.ts'
import type { RequestCount } from './ip-limiter.ts'
import { openApi } from './open-api.ts'
import { inputOf, jsonOf, type Input } from './operation-input.ts'
import { PhotoNotReadable } from './photo-problems.ts'
import { addPhotoRoutes, type PhotoParts } from './photo-routes.ts'
import type { Observer } from './ports.ts'
import type { Webhooks } from './provider/webhooks.ts'
import type { Spoil } from './test-outcomes.ts'

/** What the platform tells of a request. */
export interface Connection {
  /** The socket's address. */
  ip?: string
  /** Ends the connection without an answer. */
  drop?: () => void
}

export interface AppParts extends PhotoParts {
  core: Core
  limiter: RequestCount
  webhooks?: Webhooks | undefined
  /** A provider makes a job's pictures under that ID. */
  hear(jobId: string, id: string): Promise<void>
  /** As they are now. */
  trustedProxies: () => readonly string[]
  /** Hears of failures that are nobody's input. */
  report: (error: unknown) => void
  observer?: Observer | undefined
}

type Env = { Bindings: Connection }
type Handled = { data: unknown; spoil?: Spoil | null }

/** The HTTP side of the contract: order of checks, bodies, headers (contract §4, §5 and §7). */
export function createApp(parts: AppParts): Hono<Env> {
  const { core, limiter, webhooks, hear, trustedProxies, report, observer } = parts
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
    const input = await inputOf(operation, context.req)
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
  app.post('/webhooks/:jobId/:signature', async (context) => {
    const { jobId, signature } = context.req.param()
    if (!webhooks?.isOf(jobId, signature)) throw new ApiProblem(404, { error: 'Not found' })
    const { id } = Object(await jsonOf(context.req.raw)) as { id?: unknown }
    if (typeof id !== 'string' || id === '') throw badInput('body.id is missing or not valid')
    await hear(jobId, id)
    return new Response(null, { status: 200 })
  })
  addPhotoRoutes(app, parts)

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

function answerOf({ status, body, retryAfterSeconds }: ApiProblem): Response {
  const headers = retryAfterSeconds === null ? {} : { 'Retry-After': String(retryAfterSeconds) }
  return Response.json(body, { status, headers })
}

/** What an embedded service throws in place of an answer that is lost. */
export class AnswerLost extends TypeError {
  constructor() {
    super('the connection was closed before the answer')
  }
}
