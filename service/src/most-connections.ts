import { readFileSync } from 'node:fs'
import { mostAtOnce } from './few-at-once.ts'

/** How many files a process has open for itself: those of a folder's database most of all. */
const ownFiles = 250

/** How many clients there may be where there is hardly room for the process itself. */
const fewest = 16

/**
 * How many clients may be connected at once, by how many files the system lets the process have open: each is one, and has
 * one for each of its requests. A folder's database that cannot open its own is not to be used any more.
 */
export function mostConnections(): number {
  const [, files = Infinity] = /^Max open files +(\d+)/m.exec(limits()) ?? []
  return Math.max(fewest, Math.floor((Number(files) - ownFiles) / (1 + mostAtOnce)))
}

function limits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8')
  } catch {
    // a system that tells it elsewhere
    return ''
  }
}
