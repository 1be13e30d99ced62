import { startEmbeddedPostgres } from './embedded/embedded-postgres.ts'
import type { DurableStore, DurableStoreOptions } from './open-store.ts'

/** A store in a folder that is this process's own, with nothing to install. */
export async function openFolderStore(folder: string, options: DurableStoreOptions): Promise<DurableStore> {
  const starting = startEmbeddedPostgres(folder)
  // its thread begins while what asks it is loaded
  const [embedded, { openStore }] = await Promise.all([starting, import('./open-store.ts')])
  try {
    const { store, ...more } = await openStore(embedded.connection, { ...options, isEmbedded: true })
    const close = () => store.close().finally(embedded.close)
    return { store: { ...store, close }, ...more }
  } catch (error) {
    await embedded.close()
    throw error
  }
}
