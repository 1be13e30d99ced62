import { endpoints, saysJson, type Operation, type Schema, type TypeOf } from 'fitting-room/contract'
import type { HonoRequest } from 'hono'
import { badInput } from './api-problem.ts'
import { readBody, type BodyLimits } from './body.ts'

const bodyLimits: BodyLimits = { atMost: 64 * 1024, longestMs: 10_000 }

type Endpoint<O extends Operation> = (typeof endpoints)[O]

/** What an operation takes, by the contract. */
export interface Input<O extends Operation> {
  params: TypeOf<Endpoint<O>['params']>
  query: TypeOf<Endpoint<O>['query']>
  body: Endpoint<O>['body'] extends Schema<unknown> ? TypeOf<Endpoint<O>['body']> : undefined
}

/** Reads and checks params, query and body by the contract; the message names the first field that does not fit. */
export async function inputOf<O extends Operation>(operation: O, req: HonoRequest): Promise<Input<O>> {
  const { body } = endpoints[operation]
  const inAddress = addressOf(operation, req)
  return { ...inAddress, body: body && checked('body', body, await jsonOf(req.raw)) } as Input<O>
}

/** The same of what a request's address says, at once. */
export function addressOf<O extends Operation>(operation: O, req: HonoRequest): Omit<Input<O>, 'body'> {
  const { params, query } = endpoints[operation]
  return {
    params: params && checked('params', params, req.param()),
    query: query && checked('query', query, req.query()),
  } as Input<O>
}

function checked(part: string, schema: Schema<unknown>, value: unknown): unknown {
  const result = schema.safeParse(value)
  if (!result.success) throw badInput(`${result.path || part} is missing or not valid`)
  for (const [name, value] of Object.entries(Object(result.data))) {
    if (typeof value !== 'string') continue
    const most = longest[name] ?? Infinity
    if (value.length > most) throw badInput(`${part} has ${name} of more than ${most} characters`)
    if (unstorable.test(value)) throw badInput(`${part} has characters that cannot be kept`)
  }
  return result.data
}

/** What is kept of a shopper may have so many characters: it is kept for ever. */
const longest: Readonly<Record<string, number>> = { uniqueUserId: 1_024, email: 254, customerEmail: 254, name: 200 }

/** NUL and half of a surrogate pair are no text to a database. */
const unstorable = /[\0\p{Surrogate}]/u

/** The JSON of a request that says that it is that. */
export async function jsonOf(request: Request): Promise<unknown> {
  const bytes = await readBody(request, bodyLimits)
  if (!saysJson(request.headers.get('Content-Type'))) throw badInput('Content-Type must be application/json')
  if (bytes === 'tooLarge') throw badInput('the body is larger than 64 KiB')
  if (bytes === 'tooSlow') throw badInput('the body did not arrive in time')
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw badInput('the body is not JSON')
  }
}
