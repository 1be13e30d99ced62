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

const nothing = is.object({})
const visitor = is.object({ uniqueUserId: is.optional(uniqueUserId) })

/**
 * The seven operations: what each takes, what its 200 holds in `data`, and the highest shared count per 60 s that it still
 * accepts (contract §8).
 */
export const endpoints = {
  getContext: {
    method: 'GET',
    path: '/context',
    params: nothing,
    query: nothing,
    body: null,
    data: storefrontContext,
    threshold: 120,
  },
  getFunnel: {
    method: 'GET',
    path: '/funnel',
    params: nothing,
    query: is.object({ funnelIds }),
    body: null,
    data: funnel,
    threshold: 120,
  },
  createUpload: {
    method: 'POST',
    path: '/uploads',
    params: nothing,
    query: nothing,
    body: uploadRequest,
    data: uploadTarget,
    threshold: 120,
  },
  getRequestsLeft: {
    method: 'GET',
    path: '/requests-left',
    params: nothing,
    query: visitor,
    body: null,
    data: visitorStatus,
    threshold: 120,
  },
  registerCustomer: {
    method: 'POST',
    path: '/customer-register',
    params: nothing,
    query: nothing,
    body: registerRequest,
    data: registeredVisitor,
    threshold: 60,
  },
  createGeneration: {
    method: 'POST',
    path: '/generations',
    params: nothing,
    query: nothing,
    body: generationRequest,
    data: generationStarted,
    threshold: 120,
  },
  getGeneration: {
    method: 'GET',
    path: '/generations/{jobId}',
    params: is.object({ jobId }),
    query: visitor,
    body: null,
    data: polledJob,
    threshold: 240,
  },
} as const

export type Operation = keyof typeof endpoints

/** What an operation's 200 holds in `data`. */
export type DataOf<O extends Operation> = is.TypeOf<(typeof endpoints)[O]['data']>
