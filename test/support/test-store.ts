import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore, openFolderStore, type Store } from '@fitting-room/service'

export interface TestStore {
  store: Store
  uploadSecret?: Uint8Array
  /** Once the service is closed. */
  release(): Promise<void>
}

/** What a suite's service keeps its try-ons in: memory, or a folder with a database where the project says so. */
export async function openTestStore(): Promise<TestStore> {
  if (process.env['TEST_STORE'] !== 'folder') return { store: memoryStore(), release: async () => {} }
  const folder = await mkdtemp(join(tmpdir(), 'test-store-'))
  const opened = await openFolderStore(folder, { report: (error) => console.error(error) })
  return { ...opened, release: () => rm(folder, { recursive: true }) }
}
