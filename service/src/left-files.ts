import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** After what time a file is nobody's any more that is made and removed within minutes, in ms. */
const leftMs = 3_600_000

/** Removes what processes that were killed have left in a folder, of the files whose names `isPassing` knows. */
export async function removeLeft(folder: string, isPassing: (name: string) => boolean): Promise<void> {
  const names = (await readdir(folder)).filter(isPassing)
  await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name)
      // another process may have been first
      const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Infinity }))
      if (mtimeMs < Date.now() - leftMs) await rm(path, { force: true })
    }),
  )
}
