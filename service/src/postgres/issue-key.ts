import { randomText } from '../random.ts'
import type { Queries } from './database.ts'
import { keyOf } from './key-of.ts'

const put = 'insert into fitting_room.keys values ($1, $2) on conflict (store_id) do update set hash = excluded.hash'

/** Gives a store a new key, which is its only one at once, in all processes; also where it was disconnected. */
export async function issueKey({ query }: Queries, storeId: string): Promise<string> {
  const key = randomText()
  await query(put, [storeId, keyOf(key)])
  return key
}

/** Leaves a store without a key, at once, in all processes. */
export async function disconnect({ query }: Queries, storeId: string): Promise<void> {
  await query(put, [storeId, null])
}
