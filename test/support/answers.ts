import { situations, type ErrorSituation } from 'fitting-room/contract'

interface Refusal {
  status: number
  body: { error: string; code?: string; message?: string }
  headers: Record<string, string>
}

interface RefusalOptions {
  /** Seconds. */
  retryAfter?: number | string
  message?: string
}

/** How the contract says that a situation is answered. */
export function refusal(situation: ErrorSituation, { retryAfter, message }: RefusalOptions = {}): Refusal {
  const { status, ...body } = situations[situation]
  return {
    status,
    body: { ...body, ...(message !== undefined && { message }) },
    headers: retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) },
  }
}

/** What the contract gives a status and no situation of its own. */
export const refusedKey: Refusal = { status: 401, body: { error: 'Unauthorized' }, headers: {} }
export const unknownVariant: Refusal = { status: 404, body: { error: 'Variant not found' }, headers: {} }
