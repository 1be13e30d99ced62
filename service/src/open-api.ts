import {
  apiError,
  endpoints,
  funnel,
  generationRequest,
  generationStarted,
  jobFailed,
  jobProcessing,
  jobSuccess,
  keyHeader,
  registeredVisitor,
  registerRequest,
  statuses,
  storefrontContext,
  uploadRequest,
  uploadTarget,
  visitorStatus,
  type ObjectSchema,
  type Operation,
  type Schema,
} from 'fitting-room/contract'

/** A JSON Schema, as OpenAPI 3.1 has it. */
export type JsonSchema = Readonly<Record<string, unknown>>

const text = { type: 'string' }
const integerFrom = (minimum: number) => ({ type: 'integer', minimum, maximum: Number.MAX_SAFE_INTEGER })
const url = { type: 'string', format: 'uri', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://\\S+$' }
const uuid = { type: 'string', pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' }
const storeId = (kind: string) => ({
  oneOf: [integerFrom(1), { type: 'string', pattern: `^(gid://[a-z0-9-]+/${kind}/)?(?!0$)[0-9]+$` }],
})
const email = {
  type: 'string',
  pattern:
    "^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$",
}

/** What a field of that name is, wherever it stands; whether it may be absent or null its schema says. */
const fields: Readonly<Record<string, JsonSchema>> = {
  apiUrl: url,
  code: text,
  contentType: {
    type: 'string',
    enum: ['image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/heif', 'image/avif'],
  },
  customKey: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,100}$' },
  customerEmail: email,
  displayUrl: url,
  email,
  error: text,
  etaSeconds: integerFrom(-Number.MAX_SAFE_INTEGER),
  funnelId: integerFrom(1),
  funnelIds: { type: 'string', pattern: '^0*[1-9][0-9]*(,0*[1-9][0-9]*)*$' },
  funnelType: { type: 'string', enum: ['upper_body', 'lower_body', 'dress', 'accessory', 'custom'] },
  generationModel: { type: 'string', enum: ['SERVICE_PRO', 'SERVICE_FAST', 'SERVICE_LIGHT'] },
  id: integerFrom(1),
  imageId: { type: 'number' },
  imageUrl: url,
  jobId: uuid,
  message: text,
  moreLooksConsent: { type: 'boolean' },
  name: text,
  permanentUrl: url,
  productId: storeId('Product'),
  publicToken: text,
  requestsLeft: integerFrom(-1),
  storageStatus: { type: 'string', enum: ['PENDING', 'READY'] },
  totalRequests: integerFrom(0),
  tryOnUuid: text,
  uniqueUserId: text,
  uploadUrl: url,
  variantId: storeId('ProductVariant'),
}

const jobStates = ['PROCESSING', 'ERROR', 'SUCCESS']
const takes = (schema: Schema<unknown>, value: unknown) => schema.safeParse(value).success
const isObject = (schema: Schema<unknown>): schema is ObjectSchema<unknown> => 'shape' in schema

/** What a field's own schema leaves of what one of its name is. */
function fieldOf(name: string, schema: Schema<unknown>): JsonSchema {
  const known = name === 'status' ? { const: jobStates.find((state) => takes(schema, state)) } : fields[name]
  if (known === undefined) throw new Error(`nobody has said what a field ${name} is`)
  const of = known === text && !takes(schema, '') ? { ...text, minLength: 1 } : known
  return takes(schema, null) ? { anyOf: [of, { type: 'null' }] } : of
}

/** An object's schema; what else is in the object is ignored. */
export function jsonSchemaOf(schema: ObjectSchema<unknown>): JsonSchema {
  const entries = Object.entries(schema.shape)
  const required = entries.filter(([, each]) => !takes(each, undefined)).map(([name]) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.map(([name, each]) => [name, isObject(each) ? jsonSchemaOf(each) : fieldOf(name, each)]),
    ),
    ...(required.length > 0 && { required }),
  }
}

/** Every resource of the contract by its name there (contract §2). */
export const resources: Readonly<Record<string, ObjectSchema<unknown>>> = {
  ApiError: apiError,
  Funnel: funnel,
  GenerationRequest: generationRequest,
  GenerationStarted: generationStarted,
  JobFailed: jobFailed,
  JobProcessing: jobProcessing,
  JobSuccess: jobSuccess,
  RegisterRequest: registerRequest,
  RegisteredVisitor: registeredVisitor,
  StorefrontContext: storefrontContext,
  UploadRequest: uploadRequest,
  UploadTarget: uploadTarget,
  VisitorStatus: visitorStatus,
}
const nameOf = (schema: unknown) => Object.keys(resources).find((name) => resources[name] === schema)
const referred = (name: string) => ({ $ref: `#/components/schemas/${name}` })
const polledJob = { oneOf: ['JobProcessing', 'JobFailed', 'JobSuccess'].map(referred) }

const summaries: Readonly<Record<Operation, string>> = {
  getContext: "The storefront's API and its public token",
  getFunnel: 'The first of these funnels that the store has',
  createUpload: 'A signed target for a photo',
  getRequestsLeft: 'How many try-ons a visitor has left before an e-mail address is asked for',
  registerCustomer: "A visitor's e-mail address",
  createGeneration: 'A try-on, which is paid for; two equal requests are two try-ons',
  getGeneration: 'How a try-on stands',
}

const json = (schema: JsonSchema) => ({ 'application/json': { schema } })
const retryAfter = { 'Retry-After': { description: 'Whole seconds', schema: { type: 'integer', minimum: 1 } } }

function responseOf(status: number, data: JsonSchema) {
  const ok = { type: 'object', properties: { data }, required: ['data'] }
  if (status === 200) return { description: 'OK', content: json(ok) }
  return {
    description: 'An error',
    content: json(referred('ApiError')),
    ...(status === 429 && { headers: retryAfter }),
  }
}

const parametersOf = (where: 'path' | 'query', { shape }: ObjectSchema<unknown>) =>
  Object.entries(shape).map(([name, schema]) => ({
    name,
    in: where,
    required: !takes(schema, undefined),
    schema: fieldOf(name, schema),
  }))

function operationOf(operation: Operation) {
  const { params, query, body, data } = endpoints[operation]
  const name = nameOf(data)
  return {
    operationId: operation,
    summary: summaries[operation],
    parameters: [...parametersOf('path', params), ...parametersOf('query', query)],
    ...(body && { requestBody: { required: true, content: json(referred(nameOf(body)!)) } }),
    responses: Object.fromEntries(
      statuses[operation].map((status) => [
        status,
        responseOf(status, name === undefined ? polledJob : referred(name)),
      ]),
    ),
  }
}

/** The service's API as OpenAPI 3.1 says it, made of the contract's own schemas. */
export const openApi = {
  openapi: '3.1.0',
  info: { title: 'Virtual try-on', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
  security: [{ key: [] }],
  paths: Object.fromEntries(
    (Object.keys(endpoints) as Operation[]).map((operation) => {
      const { path, method } = endpoints[operation]
      return [path, { [method.toLowerCase()]: operationOf(operation) }]
    }),
  ),
  components: {
    schemas: Object.fromEntries(Object.entries(resources).map(([name, schema]) => [name, jsonSchemaOf(schema)])),
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: keyHeader } },
  },
}
