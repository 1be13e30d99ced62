import { endpoints } from '../../src/contract/endpoints.ts'
import { jsonIn } from '../../src/rules/json.ts'
import { outcomeOf, type Exchange, type Outcome } from '../../src/rules/outcome.ts'
import type { Answer } from './answers.ts'
import type { Routed } from './route.ts'

/** What an answer is to the library that gets it, by the outcome table. */
export function meaningOf({ operation }: Routed, { status, body, retryAfter = null }: Answer): Outcome<unknown> {
  const came: Exchange = { came: 'answer', status, body: jsonIn(body), retryAfter }
  return outcomeOf<unknown>(operation, came, endpoints[operation].data)
}
