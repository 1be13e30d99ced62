/**
 * How a request says that its answer is not to be followed elsewhere, with the key or a photo. Some runtimes know no
 * `error`, as that of Cloudflare Workers; with `manual` Node's `fetch` would send a submission twice that is answered 421.
 */
export function noRedirect(): RequestRedirect {
  try {
    return new Request('https://any.test', { redirect: 'error' }).redirect
  } catch {
    return 'manual'
  }
}
