import { readFileSync } from 'node:fs'

/**
 * How many clients may be connected at once, by how many files the system lets the process have open: each may have one of
 * its own on its way, and as many are left for all else. A folder's database that can open none is not to be used any more.
 */
export function mostConnections(): number {
  const [, files = Infinity] = /^Max open files +(\d+)/m.exec(limits()) ?? []
  return Math.floor(Number(files) / 3)
}

function limits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // a system that tells it elsewhere
    return ''
  }
}
