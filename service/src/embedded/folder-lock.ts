import { join } from 'node:path'

/** SQLite's lock is one that the system takes back from a process that is gone; Node has it from 22.13. */
const sqlite = () => (process.getBuiltinModule as Partial<typeof process>['getBuiltinModule'])?.('node:sqlite')

/** Whether this Node can keep a folder for one process. */
export const canLock = () => sqlite() !== undefined

/** Keeps a folder for this process until it ends, however it ends; throws where another one has it. */
export function lockFolder(folder: string): { release(): void } {
  const module = sqlite()
  if (module === undefined) throw new Error('Node 22.13 or newer is needed for that')
  const lock = new module.DatabaseSync(join(folder, 'lock'))
  try {
    lock.exec('pragma locking_mode = exclusive; pragma journal_mode = memory; begin exclusive')
  } catch {
    lock.close()
    throw new Error('it is in use by another service')
  }
  return { release: () => lock.close() }
}
