import { digitsOf, type StoreId } from '../contract/forms.ts'

/** What the storage keys of a room begin with. */
export interface Names {
  /** What the pages of this installation and namespace have in common. */
  room: string
  /** What is this visitor's. */
  prefix: string
}

export function namesOf(installation: string, namespace = 'default', visitor?: string): Names {
  const room = ['fitting-room', installation, namespace].map(part).join(':')
  return { room, prefix: `${room}:${visitor === undefined ? 'anyone' : `visitor.${part(visitor)}`}` }
}

/** The catalog of a room. */
export const catalogOf = (room: string): string => `${room}:catalog`

/** The form of the catalog that this version writes. */
export const catalogVersion = 2

/** What is known of the visitor. */
export const visitorOf = (prefix: string): string => `${prefix}:visitor`

/** The room's photo. */
export const photoOf = (prefix: string): string => `${prefix}:photo`

/** Where version 0.1.0 listed its keys. */
export const formerIndexOf = (prefix: string): string => `${prefix}:index`

/** A product variant, by its IDs as they were written. */
export interface Variant {
  productId: StoreId
  variantId: StoreId
}

/** What tells a product variant from every other, however its IDs are written. */
export const nameOf = ({ productId, variantId }: Variant): string => `${digitsOf(productId)}:${digitsOf(variantId)}`

/** The record of a try-on. */
export const recordOf = (prefix: string, productId: StoreId, variantId: StoreId): string =>
  `${prefix}:try-on:${nameOf({ productId, variantId })}`

/** Any text as `[A-Za-z0-9._-]`, no two texts alike: some stores read other characters as separators. */
export function part(text: string): string {
  const escaped = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(text)
    .replace(/[!'()*~_]/g, escaped)
    .replaceAll('%', '_')
}
