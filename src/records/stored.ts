import type { Catalog } from './catalog.ts'
import type { Journal } from './journal.ts'
import { kindOf } from './keys.ts'

/** Something that a room keeps of its shoppers. */
export interface Stored {
  /** An attempt with its consent, job and result; a photo's bytes, until it is uploaded; the visitor's ID, or the photo's address. */
  kind: ReturnType<typeof kindOf>
  /** What it is called in storage. */
  key: string
  /** When it is removed, in epoch ms, where nothing changes it; 0 for what a `reset()` could not remove yet. */
  until: number
  /** Whether the device keeps it; else it goes with the page. */
  durable: boolean
}

/** All that the room keeps, of every visitor; rejects where storage fails. */
export async function storedIn({ catalog, journal }: { catalog: Catalog; journal: Journal }): Promise<Stored[]> {
  const { durable } = journal
  const entries = Object.entries(await catalog.entries())
  return entries.map(([key, until]) => ({ kind: kindOf(key), key, until, durable }))
}
