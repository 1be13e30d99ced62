import { describe, expect, it } from 'vitest'
import * as is from '../src/contract/schema.ts'
import {
  meanings,
  outcomeOf,
  type Column,
  type Exchange,
  type Requested,
  type Situation,
} from '../src/rules/outcome.ts'

const data = is.object({ ok: is.oneOf(true) })
const operations: Record<Column, Requested> = {
  submission: 'createGeneration',
  poll: 'getGeneration',
  read: 'getFunnel',
}
const answer = (status: number, body: unknown = { error: 'x' }, retryAfter: string | null = null): Exchange => ({
  came: 'answer',
  status,
  body,
  retryAfter,
})

/** The exchanges that are each situation. */
const examples: Record<Situation, Exchange[]> = {
  fits: [answer(200, { data: { ok: true, more: 1 }, else: 2 })],
  misfit: [
    answer(200, { data: { ok: false } }),
    answer(200, { ok: true }),
    answer(200, undefined),
    answer(200, null),
    answer(201, { data: { ok: true } }),
    answer(204, undefined),
  ],
  emailRequired: [
    answer(403, { error: 'email_required', code: 'EMAIL_REQUIRED' }),
    answer(403, { error: 'email_required' }),
    answer(403, { error: 'Bitte E-Mail angeben', code: 'EMAIL_REQUIRED' }),
  ],
  keyRefused: [answer(401), answer(401, undefined)],
  tryOnLimit: [
    answer(429, { error: 'try_on_limit_reached', code: 'TRY_ON_LIMIT_REACHED', message: 'tomorrow' }, '30'),
    answer(429, { error: 'else', code: 'TRY_ON_LIMIT_REACHED' }),
    answer(429, { error: 'try_on_limit_reached' }),
  ],
  ipLimit: [answer(429, { error: 'Rate limit exceeded', message: 'too many' }, '7')],
  otherTooMany: [answer(429, { error: 'slow down' }, '7'), answer(429, undefined, '7')],
  held: [{ came: 'held', waitMs: 1234 }],
  serverTimeout: [answer(408), answer(421)],
  tooEarly: [answer(425)],
  clientClosed: [answer(499)],
  requestRefused: [
    answer(403, { error: 'Product is not assigned to this funnel' }),
    answer(403, undefined),
    answer(400),
    answer(404),
    answer(405),
    answer(409),
    answer(418),
  ],
  redirected: [answer(302), answer(307)],
  serverError: [
    answer(500, { error: 'Could not create generation' }),
    answer(502, undefined),
    answer(503),
    answer(599),
  ],
  timeout: [{ came: 'nothing', why: 'timeout' }],
  lost: [{ came: 'nothing', why: 'lost' }],
  aborted: [{ came: 'nothing', why: 'aborted' }],
  unreachable: [{ came: 'notSent', why: 'unreachable' }],
  offline: [{ came: 'notSent', why: 'offline' }],
  unwanted: [{ came: 'notSent', why: 'unwanted' }],
  noKey: [{ came: 'notMade', why: 'noKey' }],
  invalid: [{ came: 'notMade', why: 'invalid', at: 'body' }],
  moved: [{ came: 'notMade', why: 'moved' }],
}

/** The outcome table once more, by hand: the data must say the same. */
const expected: Record<Situation, Record<Column, string>> = {
  fits: { submission: 'accepted', poll: 'accepted', read: 'accepted' },
  misfit: { submission: 'protocolError', poll: 'protocolError', read: 'protocolError' },
  emailRequired: { submission: 'rejected.email', poll: 'protocolError', read: 'rejected.request' },
  keyRefused: { submission: 'rejected.key', poll: 'rejected.key', read: 'rejected.key' },
  tryOnLimit: { submission: 'limitReached', poll: 'throttled', read: 'throttled' },
  ipLimit: { submission: 'throttled', poll: 'throttled', read: 'throttled' },
  otherTooMany: { submission: 'throttled', poll: 'throttled', read: 'throttled' },
  held: { submission: 'throttled', poll: 'throttled', read: 'throttled' },
  serverTimeout: { submission: 'outcomeUnknown', poll: 'unavailable', read: 'unavailable' },
  tooEarly: { submission: 'rejected.request', poll: 'unavailable', read: 'unavailable' },
  clientClosed: { submission: 'outcomeUnknown', poll: 'protocolError', read: 'unavailable' },
  requestRefused: { submission: 'rejected.request', poll: 'protocolError', read: 'rejected.request' },
  redirected: { submission: 'outcomeUnknown', poll: 'unavailable', read: 'unavailable' },
  serverError: { submission: 'outcomeUnknown', poll: 'unavailable', read: 'unavailable' },
  timeout: { submission: 'outcomeUnknown', poll: 'unavailable', read: 'unavailable' },
  lost: { submission: 'outcomeUnknown', poll: 'unavailable', read: 'unavailable' },
  aborted: { submission: 'outcomeUnknown', poll: 'unavailable', read: 'unavailable' },
  unreachable: { submission: 'notSent', poll: 'unavailable', read: 'unavailable' },
  offline: { submission: 'notSent', poll: 'unavailable', read: 'unavailable' },
  unwanted: { submission: 'notSent', poll: 'unavailable', read: 'unavailable' },
  noKey: { submission: 'rejected.key', poll: 'rejected.key', read: 'rejected.key' },
  invalid: { submission: 'rejected.request', poll: 'rejected.request', read: 'rejected.request' },
  moved: { submission: 'rejected.request', poll: 'unavailable', read: 'rejected.request' },
}

const cells = (Object.keys(expected) as Situation[]).flatMap((situation) =>
  (['submission', 'poll', 'read'] as Column[]).map(
    (column) => [situation, column, expected[situation][column]] as const,
  ),
)

describe('the outcome table', () => {
  it.each(cells)('%s × %s: %s', (situation, column, meaning) => {
    expect(meanings[situation][column]).toBe(meaning)
    for (const exchange of examples[situation]) {
      const outcome = outcomeOf(operations[column], exchange, data)
      expect(outcome.kind === 'rejected' ? `rejected.${outcome.reason}` : outcome.kind).toBe(meaning)
      if (outcome.kind !== 'accepted') expect(outcome).toMatchObject({ situation, operation: operations[column] })
    }
  })

  it('has a test for every row of the data', () => {
    expect(Object.keys(expected).sort()).toEqual(Object.keys(meanings).sort())
  })

  it('only a definite answer lets a submission be sent again', () => {
    const repeatable = cells.filter(
      ([, column, meaning]) => column === 'submission' && /rejected|limitReached|throttled|notSent/.test(meaning),
    )
    const definite = [
      'emailRequired',
      'keyRefused',
      'tryOnLimit',
      'ipLimit',
      'otherTooMany',
      'held',
      'tooEarly',
      'requestRefused',
      'unreachable',
      'offline',
      'unwanted',
      'noKey',
      'invalid',
      'moved',
    ]
    expect(repeatable.map(([situation]) => situation).sort()).toEqual(definite.sort())
  })
})

describe('Retry-After', () => {
  const wait = (exchange: Exchange) => outcomeOf('createGeneration', exchange, data)
  const ip = { error: 'Rate limit exceeded' }

  it.each([
    ['7', 7000],
    ['0', 0],
    [null, null],
    ['soon', null],
    ['-1', null],
    ['1.5', null],
    ['Wed, 21 Oct 2026 07:28:00 GMT', null],
  ])('%s on the IP limit is %s ms', (header, retryAfterMs) => {
    expect(wait(answer(429, ip, header))).toMatchObject({ kind: 'throttled', retryAfterMs })
  })

  it('is ignored on any other 429', () => {
    expect(wait(answer(429, { error: 'slow down' }, '7'))).toMatchObject({ retryAfterMs: null })
    expect(wait(answer(429, { error: 'try_on_limit_reached' }, '7'))).not.toHaveProperty('retryAfterMs')
  })
})

describe('a misfit', () => {
  it('names the field that does not fit, and nothing of its value', () => {
    const outcome = outcomeOf('getFunnel', answer(200, { data: { ok: 'secret' } }), data)
    expect(outcome).toMatchObject({ kind: 'protocolError', at: 'data.ok' })
    expect(JSON.stringify(outcome)).not.toContain('secret')
  })
})
