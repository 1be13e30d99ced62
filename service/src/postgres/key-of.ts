import { createHash } from 'node:crypto'

/** A name of fixed length for a text that may be long, or tell who somebody is. */
export const keyOf = (text: string): Uint8Array => createHash('sha256').update(text).digest()
