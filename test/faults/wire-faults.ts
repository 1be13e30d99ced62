import { situations } from 'fitting-room/contract'
import type { Situation } from '../../src/rules/outcome.ts'
import { refusal, refusedKey } from '../support/answers.ts'

/** What happens to one exchange at the socket. */
export type WireFault =
  | { at: 'beforeReading' | 'afterServing' | 'inTheBody' | 'never' }
  | { at: 'answer'; status: number; body: string; headers?: Record<string, string> }

const answer = (status: number, body: unknown, headers: Record<string, string> = {}): WireFault => ({
  at: 'answer',
  status,
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers,
})
const statuses = (...codes: number[]) =>
  codes.map((status): [string, WireFault] => [`${status}`, answer(status, { error: `status ${status}` })])
const refused = (...given: Parameters<typeof refusal>): WireFault => {
  const { status, body, headers } = refusal(...given)
  return answer(status, body, headers)
}
const message = 'Come back tomorrow!'

/** Every situation of the outcome table that a server can bring about, and the ways in which it comes over the wire. */
export const wireFaults: Partial<Record<Situation, [string, WireFault][]>> = {
  misfit: [
    ['200 with a page', answer(200, '<html>')],
    ['200 with nothing', answer(200, '')],
    ['200 with JSON cut short', answer(200, '{"data":{')],
    ['200 with no data', answer(200, {})],
    ['200 with data that is null', answer(200, { data: null })],
    ['200 with fields of another type', answer(200, { data: { jobId: 7, id: '12', status: 'DONE', uploadUrl: 1 } })],
    [
      '200 with a job ID that is no UUID',
      answer(200, { data: { jobId: 'job-1', etaSeconds: 40, uniqueUserId: null } }),
    ],
    ['200 with a list', answer(200, [])],
    ['201', answer(201, { data: {} })],
    ['202', answer(202, { data: {} })],
    ['204', answer(204, '')],
  ],
  emailRequired: [['403 EMAIL_REQUIRED', refused('emailRequired')]],
  keyRefused: [['401', answer(refusedKey.status, refusedKey.body)]],
  tryOnLimit: [
    ['429 by its code', refused('tryOnLimitReached', { message })],
    [
      '429 by its error, with a Retry-After',
      answer(429, { error: situations.tryOnLimitReached.error }, { 'Retry-After': '1' }),
    ],
  ],
  ipLimit: [
    ['429 with a wait', refused('rateLimitExceeded', { retryAfter: 2 })],
    ['429 without a wait', refused('rateLimitExceeded')],
    ['429 with a wait that is a date', refused('rateLimitExceeded', { retryAfter: 'Sat, 21 Nov 2026 10:00:00 GMT' })],
  ],
  otherTooMany: [['429 of somebody else', answer(429, '<html>')]],
  serverTimeout: statuses(408, 421),
  tooEarly: statuses(425),
  clientClosed: statuses(499),
  requestRefused: [
    ...statuses(400, 402, 404, 405, 406, 409, 410, 413, 415, 422, 451),
    ['403', refused('productNotInFunnel')],
    ['404 with a page', answer(404, '<html>')],
  ],
  redirected: [
    ...statuses(300, 304),
    ...[301, 302, 303, 307, 308].map((status): [string, WireFault] => [
      `${status}`,
      answer(status, '', { Location: '/elsewhere' }),
    ]),
  ],
  serverError: [
    ['500 Could not create generation', refused('couldNotCreateGeneration')],
    ...statuses(500, 501, 502, 503, 504, 520, 599),
  ],
  timeout: [['never answered', { at: 'never' }]],
  lost: [
    ['connection dropped before the request is read', { at: 'beforeReading' }],
    ['connection dropped after the request is served', { at: 'afterServing' }],
    ['answer cut in its body', { at: 'inTheBody' }],
  ],
}
