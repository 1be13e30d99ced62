import type { IncomingMessage, ServerResponse } from 'node:http'

/** What a proxy says of whom it asks for. */
const ofProxies = ['via', 'forwarded', 'x-forwarded-for']

/** Whoever does not know of interim answers, as some proxies and programs, takes the first one for the last; no browser does. */
function isOfBrowser({ headers, httpVersion }: IncomingMessage): boolean {
  const isDirect = headers.connection === 'keep-alive' && !ofProxies.some((name) => name in headers)
  // a program may call itself a browser, and seldom has a language
  const isBrowser = headers['user-agent']?.startsWith('Mozilla/') === true && 'accept-language' in headers
  return httpVersion === '1.1' && isDirect && isBrowser && headers.origin !== undefined
}

/**
 * Browsers send a POST again by themselves where its connection dies before anything was answered, and had been open before
 * it: even if nothing was ever sent on it, so that to close each connection with its answer is not enough. What is told here,
 * that the request is being processed, is an answer to them, and nothing to a page.
 */
export function sayProcessing(request: IncomingMessage, answer: ServerResponse): void {
  if (request.method === 'POST' && isOfBrowser(request)) answer.writeProcessing()
}
