import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isGone, processName } from './process-name.ts'

/** How long a process that can not be asked whether it runs may be at it, in ms, before it counts as gone. */
const strangerMs = 10_000

/** How long somebody waits before they look again, in ms. */
const lookAgainMs = 3

/** Who takes a number just now, and who has which. */
const choosing = /^choosing\.(.+)$/
const waiting = /^waiting\.(\d+)\.(.+)$/

/**
 * One after the other, in this process and with all that have the folder: Lamport's bakery. Everybody takes a number one
 * above those that are out, and the lowest one is next; a name is never used again, so that what a killed process has left
 * is taken away by anybody, at any time. A process that is stopped in mid-turn keeps the others waiting, and from nothing.
 */
export function createTurns(folder: string): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const done = last.then(() => inTurn(folder, work))
    last = done.catch(() => undefined)
    return done
  }
}

let turns = 0

async function inTurn<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const name = `${processName}-${(turns += 1)}`
  const at = (file: string) => join(folder, file)
  const take = (file: string) => writeFile(at(file), '', { flag: 'wx', mode: 0o600 })
  const leave = (file: string) => rm(at(file), { force: true })
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await take(`choosing.${name}`)
  const number = 1 + Math.max(0, ...(await readdir(folder)).map((file) => Number(waiting.exec(file)?.[1] ?? 0)))
  const ticket = `waiting.${number}.${name}`
  try {
    await take(ticket)
    await leave(`choosing.${name}`)
    // whoever chose before this number stood may have a lower one, which stands once they have chosen
    await none(folder, ticket, (file) => choosing.test(file))
    await none(folder, ticket, (file) => isBefore(file, number, name))
    return await work()
  } finally {
    await leave(`choosing.${name}`)
    await leave(ticket)
  }
}

function isBefore(file: string, number: number, name: string): boolean {
  const [, theirs, them = ''] = waiting.exec(file) ?? []
  return theirs !== undefined && (Number(theirs) < number || (Number(theirs) === number && them < name))
}

/** Waits until nobody who still runs has a file of that kind, and takes away those of the others. */
async function none(folder: string, mine: string, is: (file: string) => boolean): Promise<void> {
  for (;;) {
    const files = (await readdir(folder)).filter(is)
    const gone = await Promise.all(files.map((file) => isLeft(folder, file, mine)))
    if (gone.every(Boolean)) return
    await sleep(lookAgainMs * (0.5 + Math.random()))
  }
}

async function isLeft(folder: string, file: string, mine: string): Promise<boolean> {
  const name = choosing.exec(file)?.[1] ?? waiting.exec(file)?.[2] ?? ''
  const left = isGone(name) ?? (await isOlder(join(folder, file), join(folder, mine)))
  if (left) await rm(join(folder, file), { force: true })
  return left
}

/** Of both the file system's own time counts; a file that is gone waits for nothing. */
async function isOlder(file: string, mine: string): Promise<boolean> {
  const [theirs, now] = await Promise.all([modifiedMs(file), touchedMs(mine)])
  return theirs === null || now - theirs > strangerMs
}

async function modifiedMs(file: string): Promise<number | null> {
  try {
    return (await stat(file)).mtimeMs
  } catch {
    return null
  }
}

/** The file system's time, by a file that was written just now. */
async function touchedMs(file: string): Promise<number> {
  await writeFile(file, '')
  return (await stat(file)).mtimeMs
}
