import { digitsOf, type GenerationRequest } from 'fitting-room/contract'
import { defaultLimitMessage, type TestOutcome } from './config.ts'
import { ipLimit, ApiProblem, named } from './api-problem.ts'
import type { Visitor } from './ports.ts'

/** How long the IP throttling of a test variant lasts, in seconds. */
const throttleSeconds = 3
/** How much longer slow test jobs take, in ms. */
const slowMs = 20_000
/** How much longer those take that are not meant to end: ten years, in ms. */
const endlessMs = 10 * 365 * 86_400_000

/** What a test variant changes of a job's times, in ms after the usual ones. */
export const delays: Partial<Record<TestOutcome, { preview: number; ready: number }>> = {
  slow: { preview: slowMs, ready: slowMs },
  longPreview: { preview: 0, ready: slowMs },
  stalled: { preview: endlessMs, ready: endlessMs },
}

/** How the answer to an accepted submission is spoiled. */
export type Spoil = 'lost' | 'error' | 'malformed'
export const spoils: Partial<Record<TestOutcome, Spoil>> = {
  answerLost: 'lost',
  errorAfterAccepting: 'error',
  malformedAnswer: 'malformed',
}

/**
 * Refusals that test variants force; throttling, the e-mail and the revoked key pass at every second try of a visitor. A
 * request has one answer, however often it is asked for.
 */
export function createForcedRefusals() {
  const refusedOnce = new Set<string>()
  const given = new WeakMap<GenerationRequest, ApiProblem | null>()

  function next(outcome: TestOutcome | undefined, visitor: Visitor, request: GenerationRequest): ApiProblem | null {
    if (outcome === 'limitReached') return named('tryOnLimitReached', defaultLimitMessage)
    if (outcome === 'rejected') return named('productNotInFunnel')
    const refusal = outcome && everyOther[outcome]
    if (!refusal || (outcome === 'emailRequired' && request.customerEmail !== undefined)) return null
    const name = JSON.stringify([visitor.storeId, visitor.id, digitsOf(request.variantId)])
    const mayPass = outcome !== 'emailRequired' || visitor.email !== null
    if (mayPass && refusedOnce.delete(name)) return null
    refusedOnce.add(name)
    return refusal()
  }

  return (outcome: TestOutcome | undefined, visitor: Visitor, request: GenerationRequest): ApiProblem | null => {
    const known = given.get(request)
    if (known !== undefined) return known
    const refusal = next(outcome, visitor, request)
    given.set(request, refusal)
    return refusal
  }
}

const everyOther: Partial<Record<TestOutcome, () => ApiProblem>> = {
  throttled: () => ipLimit(throttleSeconds),
  emailRequired: () => named('emailRequired'),
  keyRevoked: () => new ApiProblem(401, { error: 'Unauthorized' }),
}
