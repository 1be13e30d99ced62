import { randomUUID } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'

/** Where a process lives: of two in one place each can tell whether the other one still runs. */
interface Place {
  name: string
  /** Whether a process there is told from a later one that has got its number. */
  isExact: boolean
}

const place = readPlace()

const processName = [place.name, process.pid, startOf(process.pid) ?? ''].map(plain).join('.')

/** Names this copy of the module, in this thread of this process, and no other one ever. */
export const ownName = `${processName}.${randomUUID()}`

/** Whether who has that name runs no more; undefined where that cannot be told from here. */
export function isGone(name: string): boolean | undefined {
  // another thread may have ended
  if (name.startsWith(`${processName}.`)) return undefined
  const [of, pid, start] = name.split('.')
  if (of !== plain(place.name)) return undefined
  if (place.isExact) return startOf(Number(pid)) !== start
  return hasEnded(Number(pid)) || undefined
}

/** Linux tells boots and containers apart; elsewhere it is the machine. */
function readPlace(): Place {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return { name: `${boot}-${readlinkSync('/proc/self/ns/pid')}`, isExact: startOf(process.pid) !== null }
  } catch {
    return { name: hostname(), isExact: false }
  }
}

/** In ticks since the boot; null for a process that has ended, of which its parent may not know yet. Throws where it cannot be told. */
function startOf(pid: number): string | null {
  const stat = textOf(`/proc/${pid}/stat`)
  if (stat === null) return null
  // the name of a program may hold anything, blanks and brackets too
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return /^[ZX]$/.test(fields[0] ?? '') ? null : (fields[19] ?? null)
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    // it may be there where files cannot be opened
    if (!['ENOENT', 'ESRCH'].includes(String((error as NodeJS.ErrnoException).code))) throw error
    return null
  }
}

function hasEnded(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

/** What may stand between the dots of a name, and in the name of a file. */
function plain(part: string | number): string {
  return String(part).replace(/[^A-Za-z0-9-]/g, '-')
}
