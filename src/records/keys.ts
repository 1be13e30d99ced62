import type { StoreId } from '../contract/ids.ts'
import { digitsOf } from '../contract/ids.ts'

/** The storage keys of one room: of one installation of the API, one namespace and one visitor. */
export interface Keys {
  index: string
  epoch: string
  visitor: string
  photo: string
  photoBytes(id: string): string
  /** The record of a try-on; `slot` counts past records that must be left alone. */
  tryOn(productId: StoreId, variantId: StoreId, slot: number): string
  attempt(attemptId: string): string
}

export function keysOf(baseUrl: string, namespace: string, visitor: string | undefined): Keys {
  const room = ['fitting-room', baseUrl, namespace].map(part).join(':')
  const own = `${room}:${visitor === undefined ? 'anyone' : `visitor.${part(visitor)}`}`
  return {
    index: `${own}:index`,
    epoch: `${own}:epoch`,
    visitor: `${own}:visitor`,
    photo: `${own}:photo`,
    photoBytes: (id) => `${own}:photo:${part(id)}`,
    tryOn: (productId, variantId, slot) =>
      `${own}:try-on:${digitsOf(productId)}:${digitsOf(variantId)}${slot === 0 ? '' : `:${slot}`}`,
    attempt: (attemptId) => `${own}:attempt:${part(attemptId)}`,
  }
}

/** Any text as `[A-Za-z0-9._-]`, no two texts alike: some stores read other characters as separators. */
function part(text: string): string {
  const escaped = (char: string) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`
  return encodeURIComponent(text)
    .replace(/[!'()*~_]/g, escaped)
    .replaceAll('%', '_')
}
