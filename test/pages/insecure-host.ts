/** A page there is no secure context, and so has no Web Locks. */
export const insecureHost = 'shop.test'
export const mapInsecureHost = `--host-resolver-rules=MAP ${insecureHost} 127.0.0.1`
