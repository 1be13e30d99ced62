import { situations, type ApiError, type ErrorSituation } from 'fitting-room/contract'
import type { HeaderRecord } from './answers.ts'

/** An answer that is an error of the contract (contract §7). */
export class ApiProblem extends Error {
  readonly status: number
  readonly body: ApiError
  readonly headers: HeaderRecord

  constructor(status: number, body: ApiError, headers: HeaderRecord = {}) {
    super(body.error)
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** One of the error situations that the contract names. */
export function named(situation: ErrorSituation, message?: string): ApiProblem {
  const { status, ...body } = situations[situation]
  return new ApiProblem(status, message === undefined ? body : { ...body, message })
}

export const badInput = (message: string) => new ApiProblem(400, { error: 'Invalid request', message })
export const notFound = (what: string) => new ApiProblem(404, { error: `${what} not found` })
export const ipLimit = (seconds: number) =>
  new ApiProblem(
    429,
    { error: 'Rate limit exceeded', message: `Too many requests from this address; try again in ${seconds} s` },
    { 'Retry-After': String(seconds) },
  )

/** For a method that is none of the path's, which has these. */
export const notAllowed = (methods: readonly string[]) =>
  new ApiProblem(405, { error: 'Method not allowed' }, { Allow: methods.join(', ') })
