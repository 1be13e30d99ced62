import type { Catalog } from './catalog.ts'
import type { Codec, Journal } from './journal.ts'
import { isBytes, kindOf } from './keys.ts'

/** Something that a room keeps of its shoppers. */
export interface Stored {
  /**
   * `attempt`: its consent, job and result. `photo`: its bytes, until it is uploaded. `picture`: its bytes, with
   * `keepPictures`. `shopper`: the visitor's ID, the addresses of photos, or which events were reported.
   */
  kind: ReturnType<typeof kindOf>
  /** Its key in storage or, if that fails, in the page's memory. */
  key: string
  /** When it expires unless it changes, in epoch ms; 0 for what a `reset()` could not remove yet. */
  until: number
}

/** Whatever it is. */
const anything: Codec<object> = { read: () => 'unreadable', write: (value) => value }

/** All that the room keeps, of every visitor; rejects where storage fails. */
export async function storedIn({ catalog, journal }: { catalog: Catalog; journal: Journal }): Promise<Stored[]> {
  // a value is listed before it is written, and until it is due, though it has gone
  const isThere = async (key: string) => {
    const cell = journal.cell(key, anything)
    return isBytes(key) || (await cell.read()) !== null || cell.onDisk() !== null
  }
  const listed = Object.entries(await catalog.entries())
  const there = await Promise.all(listed.map(([key]) => isThere(key)))
  return listed.filter((_, at) => there[at]).map(([key, until]) => ({ kind: kindOf(key), key, until }))
}
