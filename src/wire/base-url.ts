import { isHttpUrl } from '../contract/forms.ts'

/**
 * The base URL as it is now, absolute and without a trailing slash; a path means the page's own origin. Null where it can
 * not be one, or cannot be read.
 */
export function readBaseUrl(option: string | (() => string)): string | null {
  try {
    const text = typeof option === 'function' ? option() : option
    const isPath = /^\/(?!\/)/.test(text) && typeof location !== 'undefined'
    // a frame whose page stands in its markup has its parent's origin, and no address
    const url = isPath ? (location.origin === 'null' ? globalThis : location).origin + text : text
    // paths are put behind it, and no page may ask an address that holds a password
    return isHttpUrl(url) && !/[?#]|\/\/[^/]*@/.test(url) ? url.replace(/\/+$/, '') : null
  } catch {
    return null
  }
}
