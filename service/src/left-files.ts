import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** After what time a file is nobody's any more that is made and removed within minutes, in ms. */
const leftMs = 3_600_000

/** How often it is looked for them, in ms. */
const lookMs = 10 * 60_000

/**
 * Removes what processes that were killed have left in a folder, of the files whose names `isPassing` knows: at once, and
 * from time to time, as they may be photos as they came.
 */
export function keepRemovingLeft(folder: string, isPassing: (name: string) => boolean, everyMs = lookMs): void {
  const look = () => void removeLeft(folder, isPassing).catch(() => undefined)
  look()
  setInterval(look, everyMs).unref()
}

async function removeLeft(folder: string, isPassing: (name: string) => boolean): Promise<void> {
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
