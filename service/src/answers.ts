import { keyHeader } from 'fitting-room/contract'
import type { Context } from 'hono'

/** What every answer says: pages of any origin may read it, and nobody keeps it who is not told to. */
const always = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
}
/** A browser repeats a POST by itself when a connection that it uses again dies. */
const toPages = { ...always, Connection: 'close' }

/** Some headers, by their names. */
export type HeaderRecord = Readonly<Record<string, string>>

/** An answer with what every one says, in one piece: headers that are set later cost as much as all the rest. */
export function answer(
  { req }: Context,
  status: number,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | null = null,
  headers: HeaderRecord = {},
): Response {
  const common = req.header('Origin') === undefined ? always : toPages
  return new Response(body, { status, headers: { ...common, ...headers } })
}

/** What a browser asks before it sends what pages of another origin want sent. */
export const answerPreflight = (context: Context): Response =>
  answer(context, 204, null, {
    'Access-Control-Allow-Headers': `Content-Type, ${keyHeader}`,
    'Access-Control-Allow-Methods': 'GET, POST, PUT, OPTIONS',
    'Access-Control-Max-Age': '600',
  })

export function answerJson(context: Context, status: number, body: unknown, headers: HeaderRecord = {}): Response {
  return answer(context, status, JSON.stringify(body), { 'Content-Type': 'application/json', ...headers })
}
