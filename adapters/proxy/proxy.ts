import { boundedBudget } from '../../src/budget/bounded.ts'
import { refusedMsOf } from '../../src/budget/refused.ts'
import { reporter } from '../../src/platform/guarded.ts'
import { systemClock } from '../../src/platform/system-clock.ts'
import type { Budget, Clock } from '../../src/ports.ts'
import { check, isObject } from '../../src/rules/check.ts'
import { problem, responseOf, tooMany, type Answer } from './answers.ts'
import { exactBudget } from './exact-budget.ts'
import { createFunnelAnswers } from './funnel-answers.ts'
import { createLine } from './line.ts'
import { meaningOf } from './meaning.ts'
import { createOnce } from './once.ts'
import { routed, type Routed } from './route.ts'
import { createUpstream, unanswered, type UpstreamOptions } from './upstream.ts'
import { forgotten, visitorOf, type Visitor } from './visitor-cookie.ts'

export interface ProxyOptions extends UpstreamOptions {
  /** Its path on your server, where the `baseUrl` of the pages' rooms points. Default: `/api`. */
  path?: string | undefined
  /** Decides when each request may be sent. Default: an exact count of all that this process sends. */
  budget?: Budget | undefined
  /** How many requests may wait in line; any more get the contract's 429. Default: 200. */
  waitingAtMost?: number | undefined
  /** Called with why a request was not made or answered, without the shopper's data. Default: `console.error`. */
  onError?: ((error: unknown) => void) | undefined
  /** Time and timers. Default: the platform's. */
  clock?: Clock | undefined
}

/**
 * A handler from `Request` to `Response` that keeps the store's key on your server and passes the seven operations
 * below `path` on to the service. It sends each submission once, makes each browser a shopper of its own, by an
 * HttpOnly cookie, and has requests wait in line for the service's shared count. `DELETE` of `path`/visitor makes a
 * browser forget its shopper. Failures are answered as the contract says. Throws `TryOnError` of kind `input` for
 * `path` and `waitingAtMost`; base URL and key are read at the first request, since a build of the server may have
 * none.
 */
export function createProxy(options: ProxyOptions): (request: Request) => Promise<Response> {
  check(isObject(options), 'options', options, 'an object')
  const { path = '/api', clock = systemClock, waitingAtMost = 200 } = options
  check(/^(?:\/[\w.~-]+)*$/.test(path), 'path', path, "a path such as '/api'")
  check(waitingAtMost >= 1, 'waitingAtMost', waitingAtMost, 'a number from 1')
  const onError = reporter(options.onError)
  const budget = boundedBudget(options.budget ?? exactBudget(clock), clock, onError)
  const line = createLine(budget, clock, waitingAtMost)
  const prepare = createUpstream(options, clock, onError)
  const once = createOnce(clock)
  const funnels = createFunnelAnswers(clock)
  let wasKeyRefused = false

  async function sendInTurn(asked: Routed, shopper: string, signal: AbortSignal): Promise<Answer> {
    // what takes its time is done before the count
    const send = await prepare(asked)
    const waitMs = await line.enter(asked.operation, shopper, signal)
    if (waitMs > 0) return tooMany(waitMs)
    const { answer, isOfService } = await send(signal)
    const outcome = meaningOf(asked, answer)
    void budget.learn({ operation: asked.operation }, isOfService ? refusedMsOf(outcome) : null)
    funnels.learn(asked, answer)
    // no shopper can mend the key of a server, which hears of it once
    const isKeyRefused = outcome.kind === 'rejected' && outcome.reason === 'key'
    if (isKeyRefused && !wasKeyRefused) onError(new Error('the service refuses the key'))
    wasKeyRefused = isKeyRefused
    return isKeyRefused ? unanswered(asked.operation, false) : answer
  }

  async function answerTo(request: Request, asked: Routed, { id, cookie }: Visitor): Promise<Answer> {
    // said again without its cookie it would be another shopper's
    if (asked.operation === 'createGeneration' && cookie !== null && asked.named === null && isOfBrowser(request))
      return problem(429, { error: 'The shopper is not known yet; nothing was sent' })
    const { signal } = request
    const shopper = cookie === null ? id : (asked.named ?? '')
    // who has no cookie yet, and names nobody, is given another ID each time
    const said = asked.word !== null && shopper === '' ? asked.body?.replace(id, '') : asked.body
    const send = () =>
      sendInTurn(asked, shopper, signal).catch((error: unknown) => {
        onError(error)
        return unanswered(asked.operation, true)
      })
    return asked.operation === 'getFunnel' ? funnels.of(asked, signal, send) : once({ ...asked, said }, signal, send)
  }

  return async (request) => {
    const { pathname } = new URL(request.url)
    const below = pathname.startsWith(path) ? pathname.slice(path.length) : ''
    if (request.method === 'DELETE' && below === '/visitor')
      return responseOf({ status: 204, body: null }, forgotten(request, path))
    // no frame, picture or form of another site's page uses up the count
    if (/^(?:cross|same)-site$/.test(request.headers.get('Sec-Fetch-Site') ?? ''))
      return responseOf(problem(403, { error: 'Not for pages of other sites' }), null)
    const visitor = visitorOf(request, path)
    const asked = await routed(request, below, visitor.id)
    return responseOf('status' in asked ? asked : await answerTo(request, asked, visitor), visitor.cookie)
  }
}

/** What no script of the page can leave out. */
const isOfBrowser = ({ headers }: Request) => headers.has('Origin') || headers.has('Sec-Fetch-Site')
