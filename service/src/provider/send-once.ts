import * as http from 'node:http'
import * as https from 'node:https'
import { NotBegun } from './not-begun.ts'

export interface Sent {
  method: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
  /** How long it may take in all, in ms. */
  longestMs: number
  /** How soon it may be tried again where not all was sent, in ms. */
  againMs: number
}

/** How long what has come by then is read after that time, in ms. */
const graceMs = 100
/** How much of a body is sent at once, in bytes. */
const pieceBytes = 16 * 1024
/** What an answer may have, in bytes. */
const largestAnswer = 1024 * 1024

/**
 * Sends a request over a connection of its own, and never again: `fetch` repeats some by itself. Rejects with `NotBegun`
 * where not all was sent in time, and with the connection's error otherwise.
 */
export function sendOnce(
  url: string,
  { method, headers = {}, body, longestMs, againMs }: Sent,
): Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }> {
  const isSecure = url.startsWith('https:')
  const { request } = isSecure ? https : http
  const until = performance.now() + longestMs
  const bytes = Buffer.from(body ?? '')
  let isSent = false
  const length = body === undefined ? {} : { 'Content-Length': String(bytes.length) }
  return new Promise((resolve, reject) => {
    const giveUp = () => void sent.destroy(new Error('there was no answer in time'))
    // a process that stood still reads first what has come meanwhile, and may be paid for
    const limit = setTimeout(() => void setTimeout(giveUp, graceMs), longestMs)
    const sent = request(url, { method, headers: { ...headers, ...length }, agent: false }, (answer) => {
      // it has not even read what it would have to begin with
      if (!isSent && Number(answer.statusCode) >= 500) return void sent.destroy()
      const chunks: Buffer[] = []
      let size = 0
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > largestAnswer) answer.destroy(new Error('the answer is too large'))
        else chunks.push(chunk)
      })
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text: Buffer.concat(chunks).toString() }),
      )
      answer.on('error', reject)
    })
    const broken = (cause: Error) => reject(isSent ? cause : new NotBegun('it was not sent', againMs, { cause }))
    /** The rest of a body would be sent as a process wakes that stood still, though nobody waits for it any more. */
    const send = (rest: Buffer) => {
      if (performance.now() >= until) return void sent.destroy()
      isSent = rest.length <= pieceBytes
      if (isSent) sent.end(rest)
      else sent.write(rest.subarray(0, pieceBytes), (error) => error ?? send(rest.subarray(pieceBytes)))
    }
    sent.on('error', broken)
    // also where it became something else
    sent.on('close', () => {
      clearTimeout(limit)
      broken(new Error('the connection ended without an answer'))
    })
    sent.on('socket', (socket) => socket.once(isSecure ? 'secureConnect' : 'connect', () => send(bytes)))
  })
}
