import { funnelIds, jobId } from './ids.ts'
import {
  funnel,
  generationRequest,
  generationStarted,
  polledJob,
  registeredVisitor,
  registerRequest,
  storefrontContext,
  uniqueUserId,
  uploadRequest,
  uploadTarget,
  visitorStatus,
} from './resources.ts'
import * as is from './schema.ts'

/** The header that carries the store's key on every request but OPTIONS (contract §5). */
export const keyHeader = 'X-Service-SDK-Key'

/** Whether a `Content-Type` says that the body is JSON, as that of every POST has to (contract §1). */
export const saysJson = (contentType: string | null): boolean =>
  contentType?.split(';')[0]?.trim().toLowerCase() === 'application/json'

const nothing = is.object({})
const visitor = is.object({ uniqueUserId: is.optional(uniqueUserId) })

/** What most of them have in common. */
const get = { method: 'GET', params: nothing, query: nothing, body: null, threshold: 120 } as const
const post = { ...get, method: 'POST' } as const

/**
 * The seven operations: what each takes, what its 200 holds in `data`, and the highest shared count per 60 s that it still
 * accepts (contract §8).
 */
export const endpoints = {
  getContext: { ...get, path: '/context', data: storefrontContext },
  getFunnel: { ...get, path: '/funnel', query: is.object({ funnelIds }), data: funnel },
  createUpload: { ...post, path: '/uploads', body: uploadRequest, data: uploadTarget },
  getRequestsLeft: { ...get, path: '/requests-left', query: visitor, data: visitorStatus },
  registerCustomer: {
    ...post,
    path: '/customer-register',
    body: registerRequest,
    data: registeredVisitor,
    threshold: 60,
  },
  createGeneration: { ...post, path: '/generations', body: generationRequest, data: generationStarted },
  getGeneration: {
    ...get,
    path: '/generations/{jobId}',
    params: is.object({ jobId }),
    query: visitor,
    data: polledJob,
    threshold: 240,
  },
} as const

export type Operation = keyof typeof endpoints

/** What an operation's 200 holds in `data`. */
export type DataOf<O extends Operation> = is.TypeOf<(typeof endpoints)[O]['data']>
