import { hash } from 'node:crypto'

/** A name of fixed length for a text that may be long, or tell who somebody is. */
export const keyOf = (text: string): Uint8Array => hash('sha256', text, 'buffer')

/** The same, in hexadecimal digits. */
export const hexKeyOf = (text: string): string => hash('sha256', text, 'hex')
