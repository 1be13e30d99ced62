import { hash } from 'node:crypto'

/** A name of fixed length for a text that may be long, or tell who somebody is. */
export const keyOf = (text: string): Uint8Array => hash('sha256', text, 'buffer')

/** A number for it, under which the database locks. */
export const numberOf = (text: string): string => String(Buffer.from(keyOf(text)).readBigInt64BE())

/** The same, in hexadecimal digits. */
export const hexKeyOf = (text: string): string => hash('sha256', text, 'hex')
