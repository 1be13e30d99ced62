import type { Catalog } from './catalog.ts'
import { kindOf } from './keys.ts'

/** Something that a room keeps of its shoppers. */
export interface Stored {
  /** An attempt with its consent, job and result; a photo's bytes, until it is uploaded; a picture's, where they are kept; the visitor's ID, or the photo's address. */
  kind: ReturnType<typeof kindOf>
  /** What it is called in storage, or, where that fails, in the memory of the page. */
  key: string
  /** When it is removed, in epoch ms, where nothing changes it; 0 for what a `reset()` could not remove yet. */
  until: number
}

/** All that the room keeps, of every visitor; rejects where storage fails. */
export async function storedIn(catalog: Catalog): Promise<Stored[]> {
  return Object.entries(await catalog.entries()).map(([key, until]) => ({ kind: kindOf(key), key, until }))
}
