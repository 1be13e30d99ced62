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

const type = { 'Content-Type': 'application/json' }
/** Put together once: most answers have nothing else to say. */
const json = { always: { ...always, ...type }, toPages: { ...toPages, ...type } }

/** Pages say where they come from. */
const isOfPage = ({ req }: Context) => req.header('Origin') !== undefined

/** Some headers, by their names. */
export type HeaderRecord = Readonly<Record<string, string>>

/** An answer with what every one says, in one piece: headers that are set later cost as much as all the rest. */
export function answer(
  context: Context,
  status: number,
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>> | null = null,
  headers: HeaderRecord = {},
): Response {
  const common = isOfPage(context) ? toPages : always
  return new Response(body, { status, headers: { ...common, ...headers } })
}

/** What a browser asks before it sends what pages of another origin want sent. */
export const answerPreflight = (context: Context): Response =>
  answer(context, 204, null, {
    'Access-Control-Allow-Headers': `Content-Type, ${keyHeader}`,
    'Access-Control-Allow-Methods': 'GET, POST, PUT, OPTIONS',
    'Access-Control-Max-Age': '600',
  })

export function answerJson(context: Context, status: number, body: unknown, headers?: HeaderRecord): Response {
  const common = isOfPage(context) ? json.toPages : json.always
  return new Response(JSON.stringify(body), { status, headers: headers ? { ...common, ...headers } : common })
}
