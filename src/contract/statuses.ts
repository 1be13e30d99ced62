import type { Operation } from './endpoints.ts'

/** Every status that contract §4 lists for an operation; apart from them, as no page needs to know. */
export const statuses = {
  getContext: [200, 401, 403, 405, 429, 500],
  getFunnel: [200, 400, 401, 404, 405, 429, 500],
  createUpload: [200, 400, 401, 405, 429, 500],
  getRequestsLeft: [200, 400, 401, 405, 429, 500],
  registerCustomer: [200, 400, 401, 405, 429, 500],
  createGeneration: [200, 400, 401, 403, 404, 405, 429, 500],
  getGeneration: [200, 400, 401, 404, 405, 429, 500],
} as const satisfies Record<Operation, readonly number[]>
