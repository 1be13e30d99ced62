import { randomUUID } from 'node:crypto'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { takeBody } from './body.ts'
import type { Blob, PhotoIntake } from './ports.ts'

/** Takes photos into a file, part by part, and cleans them from there: many at once take no memory. */
export function intakeByFile(cleaned: (file: string) => Promise<Blob>): PhotoIntake {
  return async (request, limits) => {
    const path = join(tmpdir(), `fitting-room-${randomUUID()}`)
    const file = await open(path, 'wx', 0o600)
    try {
      const problem = await takeBody(request, limits, (chunk) => file.write(chunk))
      return problem ?? (await cleaned(path))
    } finally {
      await file.close()
      await rm(path, { force: true })
    }
  }
}
