import { httpUrl } from '../contract/resources.ts'
import { TryOnError } from '../rules/problem.ts'

/**
 * The base URL as it is now, absolute and without a trailing slash; a path means the page's own origin. Throws
 * `TryOnError` of kind `input` where it can not be one.
 */
export function resolvedBaseUrl(option: string | (() => string)): string {
  const text = typeof option === 'function' ? valueOf(option) : option
  const origin = typeof location === 'undefined' ? '' : location.origin
  const url = typeof text === 'string' && /^\/(?!\/)/.test(text) ? origin + text : text
  if (!httpUrl.safeParse(url).success) throw refused(text)
  return url.replace(/\/+$/, '')
}

function valueOf(option: () => string): string {
  try {
    return option()
  } catch (cause) {
    throw refused('a function that throws', cause)
  }
}

const refused = (given: unknown, cause?: unknown) =>
  new TryOnError(
    {
      kind: 'input',
      at: 'baseUrl',
      given: typeof given === 'string' ? given : String(given),
      valid: 'an absolute http(s) address, or, in a page, a path of its own origin',
      example: 'https://shop.example/try-on',
    },
    null,
    cause,
  )
