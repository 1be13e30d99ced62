import { situations, type ApiError, type ErrorSituation } from 'fitting-room/contract'

/** An answer that is an error of the contract (contract §7). */
export class ApiProblem extends Error {
  readonly status: number
  readonly body: ApiError
  readonly retryAfterSeconds: number | null

  constructor(status: number, body: ApiError, retryAfterSeconds: number | null = null) {
    super(body.error)
    this.status = status
    this.body = body
    this.retryAfterSeconds = retryAfterSeconds
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
    seconds,
  )

/** For a method that is none of the path's, which has these. */
export function notAllowed(allowed: string): Response {
  return Response.json({ error: 'Method not allowed' }, { status: 405, headers: { Allow: `${allowed}, OPTIONS` } })
}
