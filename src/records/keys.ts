import type { StoreId } from '../contract/forms.ts'
import { catalogOf, formerIndexOf, namesOf, part, photoOf, recordOf, visitorOf } from './names.ts'

/** The storage keys of one room: of one installation of the API, one namespace and one visitor. */
export interface Keys {
  /** What the pages of this installation and namespace have in common. */
  room: string
  /** What the room has in storage, for every visitor: the first of these that can be read. */
  catalog: readonly string[]
  visitor: string
  photo: string
  photoBytes(id: string): string
  /** The bytes of an attempt's picture. */
  picture(attemptId: string, which: 'preview' | 'final'): string
  /** Where the record of a try-on may be: the first of these that is not left alone because it cannot be read. */
  tryOn(productId: StoreId, variantId: StoreId): readonly string[]
  /** Which events were told. */
  told: string
  /** The record of an archived attempt. */
  attempt(attemptId: string): string
  /** Whether a key is of this visitor. */
  isOwn(key: string): boolean
  /** What was learnt of the shared count, and of how long jobs take: nobody's, so that it outlasts a reset(). */
  learnt: { pace: string; times: string }
  /** Where version 0.1.0 listed its keys and counted its resets. */
  former: readonly [index: string, epoch: string]
}

/** How many unreadable records or catalogs are stepped past. */
const candidates = 10

export function keysOf(installation: string, namespace: string | undefined, visitor: string | undefined): Keys {
  const { room, prefix } = namesOf(installation, namespace, visitor)
  const candidatesOf = (key: string) =>
    Array.from({ length: candidates }, (_, index) => (index === 0 ? key : `${key}:${index}`))
  return {
    room,
    catalog: candidatesOf(catalogOf(room)),
    visitor: visitorOf(prefix),
    photo: photoOf(prefix),
    photoBytes: (id) => `${photoOf(prefix)}:${part(id)}`,
    picture: (attemptId, which) => `${prefix}:picture:${part(attemptId)}:${which}`,
    tryOn: (productId, variantId) => candidatesOf(recordOf(prefix, productId, variantId)),
    told: `${prefix}:told`,
    attempt: (attemptId) => `${prefix}:attempt:${part(attemptId)}`,
    isOwn: (key) => key.startsWith(`${prefix}:`),
    learnt: { pace: `fitting-room:${part(installation)}:pace`, times: `fitting-room:${part(installation)}:times` },
    former: [formerIndexOf(prefix), `${prefix}:epoch`],
  }
}

/** What is kept under a key, whoever's it is: an attempt, a photo's bytes, a picture's, or what a room knows of a shopper. */
export function kindOf(key: string): 'attempt' | 'photo' | 'picture' | 'shopper' {
  const [, , , , kind, id] = key.split(':')
  if (kind === 'try-on' || kind === 'attempt') return 'attempt'
  if (kind === 'picture') return kind
  return kind === 'photo' && id !== undefined ? 'photo' : 'shopper'
}

/** Which attempt's picture is kept under a key; undefined where it is none. */
export const picturedIn = (key: string): string | undefined =>
  kindOf(key) === 'picture' ? key.split(':')[5] : undefined

/** Whether what is kept under a key is bytes, which are not beside the values. */
export const isBytes = (key: string): boolean => ['photo', 'picture'].includes(kindOf(key))

/** Where the lease on a record stands. */
export const leaseOf = (key: string): string => `${key}:lease`
