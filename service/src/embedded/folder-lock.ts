import { join } from 'node:path'

/** Keeps a folder for this process until it ends, however it ends; throws where another one has it. */
export function lockFolder(folder: string): { release(): void } {
  const sqlite = process.getBuiltinModule('node:sqlite')
  if (sqlite === undefined) throw new Error('Node 22.13 or newer is needed for that')
  // the lock of a file that the system itself takes back from a process that is gone
  const lock = new sqlite.DatabaseSync(join(folder, 'lock'))
  try {
    lock.exec('pragma locking_mode = exclusive; pragma journal_mode = memory; begin exclusive')
  } catch {
    lock.close()
    throw new Error('it is in use by another service')
  }
  return { release: () => lock.close() }
}
