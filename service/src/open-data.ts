import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileBlobs } from './file-blobs.ts'
import { openFolderStore } from './folder-store.ts'
import { usualPlaces } from './ports.ts'
import type { ServiceOptions } from './service.ts'

/** Where nothing is kept. */
export const inMemory = ':memory:'
/** Where everything is kept if nothing else is said: below the caller's folder. */
export const usualData = '.fitting-room'

/**
 * What outlasts the process: nothing, or a folder with pictures, and beside them the database that `databaseUrl` names or
 * one of the folder's own. Rejects where it cannot be kept, with a message that says what to do.
 */
export async function openData(
  data: string,
  report: (error: unknown) => void,
  databaseUrl?: string,
  places = usualPlaces,
): Promise<Pick<ServiceOptions, 'store' | 'uploadSecret' | 'limiter' | 'blobs'>> {
  if (data === inMemory && databaseUrl)
    throw new Error(`DATABASE_URL keeps try-ons, and --data ${inMemory} keeps nothing: leave one of them out`)
  if (data === inMemory) return {}
  const folder = fromCaller(data)
  const terms = { report, places }
  try {
    // what is kept is of people, and no repository is to have it
    if (mkdirSync(folder, { recursive: true })) writeFileSync(join(folder, '.gitignore'), '*\n')
    const blobs = fileBlobs(join(folder, 'pictures'))
    if (!databaseUrl) return { ...(await openFolderStore(folder, terms)), blobs }
    const { openServerStore } = await import('./open-store.ts')
    return { ...(await openServerStore(databaseUrl, terms)), blobs }
  } catch (cause) {
    const place = databaseUrl ? 'DATABASE_URL' : folder
    throw new Error(
      `nothing can be kept in ${place}: ${(cause as Error).message}; --data gives another folder, ${inMemory} keeps nothing`,
      { cause },
    )
  }
}

/** npm changes the folder; relative paths are the caller's. */
export const fromCaller = (path: string) => resolve(process.env['INIT_CWD'] ?? process.cwd(), path)
