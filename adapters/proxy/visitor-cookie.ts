/** Its name, and how long a browser keeps it, in seconds. */
const cookieName = 'fitting-room-visitor'
const maxAgeSeconds = 180 * 86_400

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Which shopper a request comes from, and the cookie that tells the next time; null where the browser has it. */
export interface Visitor {
  id: string
  cookie: string | null
}

/** The shopper's random ID of their own, as the browser has it or from now on. */
export function visitorOf(request: Request, path: string): Visitor {
  const known = (request.headers.get('Cookie') ?? '')
    .split(';')
    .map((each) => each.trim().split('='))
    .find(([name, value = '']) => name === cookieName && uuid.test(value))?.[1]
  const id = known ?? crypto.randomUUID()
  return { id, cookie: known === undefined ? cookieOf(request, path, id, maxAgeSeconds) : null }
}

/** The cookie that makes the browser forget. */
export const forgotten = (request: Request, path: string): string => cookieOf(request, path, '', 0)

/** No script can read it, and no other site's form sends it. */
function cookieOf(request: Request, path: string, value: string, seconds: number): string {
  const isSecure = new URL(request.url).protocol === 'https:' || request.headers.get('X-Forwarded-Proto') === 'https'
  const parts = [`${cookieName}=${value}`, `Path=${path || '/'}`, `Max-Age=${seconds}`, 'HttpOnly', 'SameSite=Lax']
  return [...parts, ...(isSecure ? ['Secure'] : [])].join('; ')
}
