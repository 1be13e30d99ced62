import { endpoints, saysJson, type Operation } from '../../src/contract/endpoints.ts'
import type { Schema } from '../../src/contract/schema.ts'
import { wordHeader } from '../../src/wire/exchange.ts'
import { badInput, problem, type Answer } from './answers.ts'
import { readBytes } from './read-bytes.ts'

/** How long the name of a word may be, in characters. */
const wordAtMost = 100

/** The longest body that the service takes, in bytes. */
const bodyAtMost = 65_536

/** A request of the contract, as it goes on to the service. */
export interface Routed {
  operation: Operation
  /** The path and query, behind the base URL. */
  target: string
  /** The text of its JSON; null for a GET. */
  body: string | null
  /** The ID of the shopper whom it names itself; null where it is the one of the cookie. */
  named: string | null
  /** Which word of its shopper it carries out; null where it does not say. */
  word: string | null
}

interface Named {
  operation: Operation
  /** Of a poll; null for all others. */
  jobId: string | null
}

/** The operation that a method and a path behind the base URL name, or why they name none. */
function operationOf(method: string, path: string): Named | Answer {
  const found = Object.entries(endpoints).flatMap(([name, endpoint]) => {
    const match = new RegExp(`^${endpoint.path.replace('{jobId}', '([^/]+)')}$`).exec(path)
    return match ? [{ operation: name as Operation, method: endpoint.method, jobId: match[1] ?? null }] : []
  })
  if (found.length === 0) return problem(404, { error: 'Not found' })
  if (method === 'OPTIONS') return { status: 204, body: null }
  return found.find((each) => each.method === method) ?? problem(405, { error: 'Method not allowed' })
}

/** What goes to the service for a request, with the shopper's ID where it has none; or the 400 that it would be answered. */
export async function routed(request: Request, path: string, visitorId: string): Promise<Routed | Answer> {
  const named = operationOf(request.method, path)
  if ('status' in named) return named
  const { operation, jobId } = named
  const { params, query, body } = endpoints[operation]
  // what the contract does not name makes no question of its own
  const isNamed = ([name]: [string, string]) => Object.hasOwn(query.shape, name)
  const given = Object.fromEntries([...new URL(request.url).searchParams].filter(isNamed))
  const asked = takesVisitor(query) ? { uniqueUserId: visitorId, ...given } : given
  const misfit = [params.safeParse({ jobId }), query.safeParse(asked)].find(({ success }) => !success)
  if (misfit) return badInput(`"${misfit.path}" is not valid`)
  const search = new URLSearchParams(asked).toString()
  const target = path + (search && `?${search}`)
  const word = request.headers.get(wordHeader)
  if (word !== null && word.length > wordAtMost) return badInput(`${wordHeader} has over ${wordAtMost} characters`)
  if (body === null) return { operation, target, body: null, named: given['uniqueUserId'] ?? null, word }
  const sent = await jsonOf(request)
  if (sent === null) return badInput('the body is not a JSON object of at most 64 KiB, sent as application/json')
  const read = body.safeParse(takesVisitor(body) ? { uniqueUserId: visitorId, ...sent } : sent)
  if (!read.success) return badInput(`"${read.path}" is not valid`)
  const { uniqueUserId = null } = sent as { uniqueUserId?: string }
  return { operation, target, body: JSON.stringify(read.data), named: uniqueUserId, word }
}

const takesVisitor = (schema: Schema<unknown>) => 'shape' in schema && 'uniqueUserId' in (schema.shape as object)

/** A form of another site can send text, but no JSON that says so. */
async function jsonOf({ headers, body }: Request): Promise<object | null> {
  if (!saysJson(headers.get('Content-Type'))) return null
  try {
    const bytes = await readBytes(body, bodyAtMost)
    const value: unknown = bytes && JSON.parse(new TextDecoder().decode(bytes))
    return typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
