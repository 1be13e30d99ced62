import { lookup as resolveHost } from 'node:dns'
import * as http from 'node:http'
import * as https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { PhotoNotAccessible } from './photo-problems.ts'
import { isPublic } from './public-address.ts'
import { photoLimits } from './photo-limits.ts'

const timeLimitMs = 15_000
const mostRedirects = 3

/**
 * Fetches a photo from a public address. Names are checked as they are resolved, so neither a redirect nor a changing
 * DNS answer leads to a private, loopback or link-local address; of one that is written out `isAllowed` tells.
 */
export async function fetchPhoto(url: string, isAllowed = isPublic): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(timeLimitMs)
  let at = url
  for (let hop = 0; hop <= mostRedirects; hop++) {
    const answer = await get(new URL(at), signal, isAllowed)
    if (typeof answer !== 'string') return answer
    if (!URL.canParse(answer, at)) break
    at = new URL(answer, at).href
  }
  throw new PhotoNotAccessible()
}

/** The bytes, or the address of a redirect. */
function get(url: URL, signal: AbortSignal, isAllowed: typeof isPublic): Promise<Uint8Array | string> {
  return new Promise((resolve, reject) => {
    const refuse = () => reject(new PhotoNotAccessible())
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (!/^https?:$/.test(url.protocol) || (isIP(host) !== 0 && !isAllowed(host))) return refuse()
    const { get: send } = url.protocol === 'https:' ? https : http
    const request = send(url, { lookup: publicLookup, signal, agent: false }, (answer) => {
      const { statusCode = 0, headers } = answer
      if (statusCode >= 300 && statusCode < 400 && headers.location) {
        answer.destroy()
        return resolve(headers.location)
      }
      if (statusCode !== 200) {
        answer.destroy()
        return refuse()
      }
      const chunks: Uint8Array[] = []
      let size = 0
      answer.on('data', (chunk: Uint8Array) => {
        size += chunk.length
        if (size > photoLimits.atMost) answer.destroy(new PhotoNotAccessible())
        else chunks.push(chunk)
      })
      answer.on('end', () => resolve(Buffer.concat(chunks)))
      answer.on('error', refuse)
    })
    request.on('error', refuse)
    // a connection that became something else ends without an answer, and without an error
    request.on('close', refuse)
  })
}

const publicLookup: LookupFunction = (hostname, options, done) =>
  resolveHost(hostname, options, (error, address, family) => {
    const addresses = Array.isArray(address) ? address.map((each) => each.address) : [address]
    if (error) done(error, address, family)
    else if (addresses.every(isPublic)) done(null, address, family)
    else done(new PhotoNotAccessible(), address, family)
  })
