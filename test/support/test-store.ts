import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openFolderStore, type Store } from '@fitting-room/service'
import { afterAll } from 'vitest'

export interface TestStore {
  store: Store
  uploadSecret: Uint8Array
  /** Once the service is closed. */
  release(): Promise<void>
}

const report = (error: unknown) => console.error(error)
const newFolder = () => mkdtemp(join(tmpdir(), 'test-store-'))

/** One in which nothing is kept yet: a copy of it begins sooner than a new one. */
let empty: Promise<string> | null = null
afterAll(async () => empty && rm(await empty, { recursive: true }))

async function makeEmpty(): Promise<string> {
  const folder = await newFolder()
  await (await openFolderStore(folder, { report })).store.close()
  return folder
}

/** What a suite's service keeps its try-ons in: a folder with a database, as it does by itself. */
export async function openTestStore(): Promise<TestStore> {
  const folder = await newFolder()
  await cp(await (empty ??= makeEmpty()), folder, { recursive: true })
  const opened = await openFolderStore(folder, { report })
  return { ...opened, release: () => rm(folder, { recursive: true }) }
}
