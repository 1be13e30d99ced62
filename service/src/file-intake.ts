import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { takeBody } from './body.ts'
import { keepRemovingLeft } from './left-files.ts'
import type { Blob, Line, PhotoIntake } from './ports.ts'
import { PutOff } from './put-off.ts'

/** How what arrives is called until it is cleaned. */
const prefix = 'fitting-room-upload-'

/**
 * Takes photos into a file of a folder, by default the system's for such, part by part, and cleans them from there: many at
 * once take no memory.
 */
export function intakeByFile(cleaned: (file: string, line: Line) => Promise<Blob>, folder = tmpdir()): PhotoIntake {
  mkdirSync(folder, { recursive: true })
  keepRemovingLeft(folder, (name) => name.startsWith(prefix))
  return async (request, limits, line) => {
    const path = join(folder, prefix + randomUUID())
    const file = await open(path, 'wx', 0o600).catch(noRoom)
    try {
      const problem = await takeBody(request, limits, (chunk) => file.appendFile(chunk).catch(noRoom))
      return problem ?? (await cleaned(path, line))
    } finally {
      await file.close()
      await rm(path, { force: true })
    }
  }
}

/** What the folder rejects with says nothing of the photo. */
function noRoom(cause: unknown): never {
  throw new PutOff('there was no room for what arrives', { cause })
}
