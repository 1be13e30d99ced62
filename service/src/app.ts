import { endpoints, keyHeader, type Operation } from 'fitting-room/contract'
import { Hono, type Context } from 'hono'
import { answer, answerJson, answerPreflight } from './answers.ts'
import { ApiProblem, badInput, ipLimit, notAllowed } from './api-problem.ts'
import { drain } from './body.ts'
import { LineFull } from './drawing/not-drawn.ts'
import { clientOf } from './client-address.ts'
import type { StoreConfig } from './config.ts'
import type { Core } from './core.ts'
import type { RequestCount } from './ip-limiter.ts'
import { openApi } from './open-api.ts'
import { addressOf, inputOf, jsonOf, type Input } from './operation-input.ts'
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
export function createApp(parts: AppParts): (request: Request, connection: Connection) => Promise<Response> {
  const { core, limiter, webhooks, hear, trustedProxies, report, observer } = parts
  const app = new Hono<Env>()

  const clientIp = (context: Context<Env>) =>
    clientOf(context.env?.ip ?? '127.0.0.1', context.req.header('X-Forwarded-For'), trustedProxies())

  /** Path and method are settled; then the IP count and the key. The input comes next, and the operation itself. */
  async function admitted(operation: Operation, context: Context<Env>): Promise<{ ip: string; store: StoreConfig }> {
    const ip = clientIp(context)
    const key = context.req.header(keyHeader) ?? null
    const [wait, store] = await Promise.all([limiter.count(ip, operation), core.storeOfKey(key)])
    if (wait > 0) throw ipLimit(wait)
    if (store === null) throw new ApiProblem(401, { error: 'Unauthorized' })
    return { ip, store }
  }

  const find = async ({ req }: Context<Env>) => {
    const { params, query } = addressOf('getGeneration', req)
    return core.find(params.jobId, query.uniqueUserId)
  }

  /** As polls are the most by far, a job is looked up along with count and key; who is refused does not hear of it. */
  async function poll(context: Context<Env>): Promise<Handled> {
    const found = find(context)
    found.catch(() => undefined)
    const { store } = await admitted('getGeneration', context)
    return { data: core.polled(store, await found) }
  }

  const others: {
    [O in Exclude<Operation, 'getGeneration'>]: (
      store: StoreConfig,
      ip: string,
      input: Input<O>,
    ) => Handled | Promise<Handled>
  } = {
    getContext: (store) => ({ data: core.context(store) }),
    getFunnel: (store, _ip, { query }) => ({ data: core.funnel(store, query.funnelIds.split(',').map(Number)) }),
    createUpload: async (_store, _ip, { body }) => ({ data: await core.upload(body) }),
    getRequestsLeft: async (store, ip, { query }) => ({ data: await core.visitor(store, ip, query.uniqueUserId) }),
    registerCustomer: async (store, ip, { body }) => ({ data: await core.register(store, ip, body) }),
    createGeneration: async (store, ip, { body }) => {
      const { started, spoil } = await core.generate(store, ip, body)
      return { data: started, spoil }
    },
  }

  async function other<O extends keyof typeof others>(operation: O, context: Context<Env>): Promise<Handled> {
    const { ip, store } = await admitted(operation, context)
    return others[operation](store, ip, await inputOf(operation, context.req))
  }

  async function handle(operation: Operation, context: Context<Env>): Promise<Response> {
    const { data, spoil } = await (operation === 'getGeneration' ? poll(context) : other(operation, context))
    if (spoil === 'lost') context.env.drop?.()
    if (spoil === 'error') throw new ApiProblem(500, { error: 'Internal error' })
    return answerJson(context, 200, { data: spoil === 'malformed' ? { jobId: 7, etaSeconds: 'soon' } : data })
  }

  for (const [operation, { method, path }] of Object.entries(endpoints)) {
    const route = path.replace('{jobId}', ':jobId')
    app.on(method, route, (context) => {
      // hono answers HEAD by GET; the contract knows no HEAD
      if (context.req.raw.method === 'HEAD') throw refusalAt(context.req.path)
      return handle(operation as Operation, context)
    })
    app.options(route, answerPreflight)
  }

  app.get('/openapi.json', (context) => answerJson(context, 200, openApi))
  app.post('/webhooks/:jobId/:signature', async (context) => {
    const { jobId, signature } = context.req.param()
    if (!webhooks?.isOf(jobId, signature)) throw new ApiProblem(404, { error: 'Not found' })
    const { id } = Object(await jsonOf(context.req.raw)) as { id?: unknown }
    if (typeof id !== 'string' || id === '') throw badInput('body.id is missing or not valid')
    await hear(jobId, id)
    return answer(context, 200)
  })
  addPhotoRoutes(app, parts, clientIp)

  // a route of its own for all other methods would be gone through with each that is right, too
  const refusalAt = (path: string) => {
    const routes = app.routes.filter((route) => patternOf(route.path) === patternOf(path))
    if (routes.length === 0) return new ApiProblem(404, { error: 'Not found' })
    return notAllowed(routes.map(({ method }) => method))
  }
  app.notFound(({ req }) => {
    throw refusalAt(req.path)
  })
  app.onError((error, context) => {
    const { status, body, headers } = problemOf(error, context)
    return answerJson(context, status, body, headers)
  })

  function problemOf(error: Error, { req }: Context<Env>): ApiProblem {
    if (error instanceof ApiProblem) return error
    if (error instanceof PhotoNotReadable) return new ApiProblem(415, { error: error.message })
    if (error instanceof LineFull)
      return new ApiProblem(503, { error: error.message }, { 'Retry-After': String(lineSeconds) })
    // a client that went away in the middle of its body is nobody's failure
    if (!req.raw.signal.aborted) report(error)
    return new ApiProblem(500, { error: 'Internal error' })
  }

  return async (request, connection) => {
    const from = performance.now()
    const answered = await app.fetch(request, connection)
    observer?.answered(nameOf(request), answered.status, (performance.now() - from) / 1000)
    // what has no body is no whole request yet, and need not become one
    if (request.method !== 'GET') await drain(request)
    return answered
  }
}

/** How soon a photo may be sent again whose client has too many that wait, in seconds. */
const lineSeconds = 10

/** Which of the paths that the service knows one is, whatever job or picture it names: of those there may be any number. */
const patternOf = (path: string) => path.replace(/^(\/[^/]+\/)[^/]+$/, '$1*')

const operationAt = new Map(
  Object.entries(endpoints).map(([operation, { method, path }]) => [`${method} ${patternOf(path)}`, operation]),
)

/** The operation, or what else was asked for. */
function nameOf({ method, url }: Request): string {
  const pattern = patternOf(new URL(url).pathname)
  const [, ofPhotos] = /^\/(photos|pictures)\/\*$/.exec(pattern) ?? []
  return operationAt.get(`${method} ${pattern}`) ?? ofPhotos ?? 'other'
}

/** What an embedded service throws in place of an answer that is lost. */
export class AnswerLost extends TypeError {
  constructor() {
    super('the connection was closed before the answer')
  }
}
