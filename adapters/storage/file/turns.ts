import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isGone, ownName } from './process-name.ts'

/** What whoever has the turn may do with it. */
export interface Turn {
  /** A file, or a folder, that is theirs alone, and goes with the turn: a rename from or to it fails once that is over. */
  part: string
  /** Rejects where others have the turn by now: it was stopped for too long to be waited for. */
  check(): Promise<void>
}

/** How long somebody who cannot be asked whether they run may say nothing, in ms, before they count as gone. */
const silentMs = 10_000
/** How often those who wait or are at it say that they are there, in ms. */
const sayMs = 2_000
/** How long somebody waits before they look again, in ms. */
const lookAgainMs = 3

/** Who takes a number just now, and who has which. */
const choosing = /^choosing\.(.+)$/
const waiting = /^waiting\.(\d+)\.(.+)$/

/** The turns of this copy of the module that have not ended. */
const alive = new Set<string>()
let turns = 0

/**
 * One after the other, in this process and with all that have the folder: Lamport's bakery. Everybody takes a number one
 * above those that are out, and the lowest one is next; a name is never used again, so that what a killed process has left
 * is taken away by anybody, at any time. Who is stopped in mid-turn keeps the others waiting, and from nothing.
 */
export function createTurns(folder: string): <T>(work: (turn: Turn) => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()

  async function inTurn<T>(work: (turn: Turn) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await oneTurn(folder, work)
      } catch (error) {
        if (!(error instanceof Lost)) throw error
      }
    }
  }

  return (work) => {
    const done = last.then(() => inTurn(work))
    last = done.catch(() => undefined)
    return done
  }
}

async function oneTurn<T>(folder: string, work: (turn: Turn) => Promise<T>): Promise<T> {
  const name = `${ownName}-${(turns += 1)}`
  const at = (file: string) => join(folder, file)
  const take = (file: string) => writeFile(at(file), '', { flag: 'wx', mode: 0o600 })
  let ticket = `choosing.${name}`
  const saying = setInterval(() => void touch(at(ticket)).catch(() => undefined), sayMs)
  alive.add(name)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await take(ticket)
    const numbers = (await readdir(folder)).map((file) => Number(waiting.exec(file)?.[1] ?? 0))
    const number = 1 + Math.max(0, ...numbers)
    ticket = `waiting.${number}.${name}`
    await take(ticket)
    await rm(at(`choosing.${name}`)).catch(isLost)
    // whoever chose before this number stood may have a lower one, which stands once they have chosen
    const choosers = new Set((await readdir(folder)).filter((file) => choosing.test(file)))
    await none(folder, ticket, (files) => files.filter((file) => choosers.has(file)))
    await none(folder, ticket, (files) => lastBefore(files, number, name))
    return await work({ part: at(`part.${name}`), check: async () => void (await stat(at(ticket)).catch(isLost)) })
  } finally {
    clearInterval(saying)
    alive.delete(name)
    // what cannot be removed now is nobody's any more
    await remove(folder, name, ticket).catch(() => undefined)
  }
}

/** Somebody has taken it away: they have believed its owner gone. */
class Lost extends Error {}

/** For what fails because it was taken away. */
export function isLost(error: NodeJS.ErrnoException): never {
  throw error.code === 'ENOENT' ? new Lost() : error
}

/** Who is at it before that number; those before them are waited for by them. */
function lastBefore(files: readonly string[], number: number, name: string): string[] {
  const before = files.flatMap((file) => {
    const [, theirs = '', them = ''] = waiting.exec(file) ?? []
    const isBefore = Number(theirs) < number || (Number(theirs) === number && them < name)
    return them !== '' && isBefore ? [{ file, number: Number(theirs), name: them }] : []
  })
  before.sort((one, other) => other.number - one.number || (one.name < other.name ? 1 : -1))
  return before.slice(0, 1).map(({ file }) => file)
}

/** Waits until nobody who still runs has one of those files, and takes away those of the others. */
async function none(folder: string, mine: string, those: (files: string[]) => string[]): Promise<void> {
  for (;;) {
    const files = those(await readdir(folder))
    if (files.length === 0) return
    const left = await Promise.all(files.map((file) => isLeft(folder, file, mine)))
    if (!left.every(Boolean)) await sleep(lookAgainMs * (0.5 + Math.random()))
  }
}

async function isLeft(folder: string, file: string, mine: string): Promise<boolean> {
  const name = choosing.exec(file)?.[1] ?? waiting.exec(file)?.[2] ?? ''
  const isOwn = name.startsWith(`${ownName}-`)
  const left = isOwn ? !alive.has(name) : (isGone(name) ?? (await isSilent(join(folder, file), join(folder, mine))))
  if (left) await remove(folder, name, file)
  return left
}

async function remove(folder: string, name: string, ticket: string): Promise<void> {
  // the part once more: its owner may have made it anew until the ticket went
  for (const file of [`part.${name}`, `choosing.${name}`, ticket, `part.${name}`])
    await rm(join(folder, file), { force: true, recursive: true })
}

/** Compared with when this one said something, which is now. */
async function isSilent(file: string, mine: string): Promise<boolean> {
  await touch(mine)
  const [theirs, now] = await Promise.all([saidAt(file), saidAt(mine)])
  return theirs === null || (now !== null && now - theirs > silentMs)
}

/** When its owner was last heard of; null where it is gone. */
async function saidAt(file: string): Promise<number | null> {
  try {
    return (await stat(file)).mtimeMs
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return null
  }
}

async function touch(file: string): Promise<void> {
  const now = Date.now() / 1_000
  await utimes(file, now, now).catch(isLost)
}
