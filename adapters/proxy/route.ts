import { endpoints, type Operation } from '../../src/contract/endpoints.ts'
import type { Schema } from '../../src/contract/schema.ts'
import { badInput, problem, type Answer } from './answers.ts'

/** The longest body that the service takes, in bytes. */
const bodyAtMost = 65_536

/** A request of the contract, as it goes on to the service. */
export interface Routed {
  operation: Operation
  /** The path and query, behind the base URL. */
  target: string
  /** The text of its JSON; null for a GET. */
  body: string | null
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
  const given = Object.fromEntries(new URL(request.url).searchParams)
  const asked = takesVisitor(query) ? { uniqueUserId: visitorId, ...given } : given
  const misfit = misfitOf(params, { jobId }) ?? misfitOf(query, asked)
  if (misfit !== null) return badInput(misfit)
  const search = new URLSearchParams(asked).toString()
  const target = path + (search && `?${search}`)
  if (body === null) return { operation, target, body: null }
  const sent = await jsonOf(request)
  if (sent === null) return badInput('the body is not a JSON object of at most 64 KiB, sent as application/json')
  const whole = takesVisitor(body) ? { uniqueUserId: visitorId, ...sent } : sent
  const wrong = misfitOf(body, whole)
  return wrong === null ? { operation, target, body: JSON.stringify(whole) } : badInput(wrong)
}

const takesVisitor = (schema: Schema<unknown>) => 'shape' in schema && 'uniqueUserId' in (schema.shape as object)

function misfitOf(schema: Schema<unknown>, value: unknown): string | null {
  const { path } = schema.safeParse(value)
  return path === undefined ? null : `"${path}" is not valid`
}

/** A form of another site can send text, but no JSON that says so. */
async function jsonOf(request: Request): Promise<object | null> {
  if (!/^application\/json\b/i.test(request.headers.get('Content-Type') ?? '')) return null
  const bytes = await bytesOf(request)
  if (bytes === null) return null
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

/** The body, of which no more is read than may be. */
async function bytesOf({ body }: Request): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body ?? []) {
    length += part.length
    if (length > bodyAtMost) return null
    parts.push(part)
  }
  const bytes = new Uint8Array(length)
  parts.reduce((at, part) => (bytes.set(part, at), at + part.length), 0)
  return bytes
}
