import { apply, textOf, type Change } from '../platform/apply.ts'
import { TimeLimit, withinLimit } from '../platform/clock.ts'
import { succeeds } from '../platform/succeeds.ts'
import type { Clock, FlowStorage } from '../ports.ts'

/** How long one storage call may take, in ms, before memory stands in for it. */
const storageLimitMs = 5_000

/** How long after a read was given up memory answers at once, in ms: one that never ends says nothing of what comes later. */
const tryAgainMs = 60_000

/** Where a change stands: in storage, only in memory because storage failed, or nowhere as nothing was to change. */
export type Kept = 'stored' | 'memory' | 'unchanged'

/** One key of storage, as text, and what this page knows of it. */
export interface Slot {
  /** Rejects when storage fails: that is no absence. */
  read(): Promise<string | null>
  /** Whether storage can be read, whatever memory knows. */
  isReadable(): Promise<boolean>
  /**
   * Reads, changes and writes in one go, one change after the other; undefined leaves what is there. Never rejects.
   * `confirm` is asked once the write has landed, however late; where it says no, the write is taken back.
   */
  update(change: Decide, confirm: () => Promise<boolean>): Promise<Kept>
  /** Takes away what was read, unless it has changed since. */
  takeBack(read: string): Promise<void>
  /** Every text that storage holds, or may still come to hold; of one that fails, what is known. */
  copies(): Promise<(string | null)[]>
  /** What storage was last seen to hold. */
  onDisk(): string | null
  /** What only memory has; undefined where that is nothing. */
  inMemory(): string | null | undefined
  /** Memory lets go of what only it has. */
  forget(): void
  /** Storage has been emptied here. */
  noteEmptied(): void
  /** Whether nothing is known to be there, or may come to be. */
  isBlank(): boolean
  /** Ends once everything that was begun has ended, or was given up. */
  tail(): Promise<unknown>
  /** What is done under several keys at once, after the `tail()` of each: everything later comes after it. Never rejects. */
  occupy(done: Promise<unknown>): void
}

/** What a text becomes: another one, null to remove it, undefined to leave it. */
type Decide = (old: string | null) => string | null | undefined

interface SlotParts {
  storage: FlowStorage
  clock: Clock
  /** Storage has taken a write. */
  onWorking: () => void
}

export function createSlot({ storage, clock, onWorking }: SlotParts, key: string): Slot {
  /** What storage was last seen to hold. */
  let disk: string | null = null
  /** What only memory has, because storage did not take it, null where it was to be removed; and what it was based on. */
  let ahead: { text: string | null; base: string | null } | undefined
  /** What writes that have not ended may still leave. */
  const landing = new Set<string>()
  /** How many writes have begun, and which of them was the last to land. */
  let begun = 0
  let landed = 0
  /** How many reads were given up that have not ended, and when the last of them was. */
  let hanging = 0
  let hungAt = -Infinity
  /** How much of all that was begun has not ended. */
  let pending = 0
  let tail: Promise<unknown> = Promise.resolve()
  const isBlind = typeof storage.update !== 'function'

  /**
   * Starts after everything earlier has ended. What was given up may end later: a write that cannot look at what it
   * lands on is waited for all the same, so that nothing older overwrites newer.
   */
  function queued<T>(work: () => Promise<T>, isWrite = true): Promise<T> {
    const turn = counted(tail.then(work))
    const limited = withinLimit(clock, storageLimitMs, turn)
    limited.catch((error: unknown) => {
      if (isWrite || !(error instanceof TimeLimit)) return
      hanging++
      hungAt = clock.monotonic()
      const end = () => void hanging--
      turn.then(end, end)
    })
    const ended = (isWrite && isBlind ? turn : limited).catch(() => undefined)
    // a read that was given up behind such a write has not even begun
    tail = Promise.all([tail, ended])
    return limited
  }

  /** Memory's value counts while storage holds what that was based on. */
  const current = (old: string | null) => (ahead?.base === old ? ahead.text : old)

  function see(found: string | null): void {
    disk = found
    if (ahead?.base !== found) ahead = undefined
  }

  const fromDisk = () => queued(async () => textOf(await storage.getItem(key)), false)

  const takeBack = (written: string | null) => apply(storage, key, (old) => (disk = old === written ? null : old))

  async function update(change: Decide, confirm: () => Promise<boolean>): Promise<Kept> {
    let decision: string | null | undefined
    let isGivenUp = false
    let confirmed: Promise<boolean> | undefined
    const number = ++begun
    const kept = () => (decision === undefined ? 'unchanged' : 'stored')

    async function land(): Promise<void> {
      let written: string | null = null
      let known: typeof ahead
      let isChanged = false
      const decide: Change = (old) => {
        known = ahead
        // a storage that tries again lands but the last of what it has tried
        landing.delete(written ?? '')
        // what comes late writes what memory knows by now, and only over what that was based on
        if (!isGivenUp) decision = change(current(old))
        written = isGivenUp || decision === undefined ? current(old) : decision
        isChanged = written !== old
        if (written !== null) landing.add(written)
        return written
      }
      await apply(storage, key, decide).finally(() => landing.delete(written ?? ''))
      onWorking()
      if (landed < number) {
        landed = number
        // storage has it now, or it was taken away
        if (ahead === known) ahead = undefined
        see(written)
      } else if (isChanged) {
        // a storage that is not as atomic as it says has put it over what was written since
        await apply(storage, key, (old) => (old === written ? disk : old))
      }
      if (!isChanged) return
      confirmed = confirm()
      if (await confirmed) return
      decision = undefined
      await takeBack(written)
    }

    try {
      await queued(land)
      return kept()
    } catch {
      // it stands, and looking whether it should is what took long
      if (confirmed) return (await confirmed) ? kept() : 'unchanged'
      const decided = decision
      isGivenUp = true
      const base = disk
      const decide = () => change(current(base))
      if (decide() === undefined || !(await confirm())) return 'unchanged'
      // it has landed meanwhile after all, or something else
      if (disk !== base) return disk === decided ? kept() : 'unchanged'
      // memory may have come to something else, too
      const remembered = decide()
      if (remembered === undefined) return 'unchanged'
      // what only memory had is gone from it; what storage holds, if anything, is as unknown as before
      ahead = remembered === null && base === null ? undefined : { text: remembered, base }
      return 'memory'
    }
  }

  async function read(): Promise<string | null> {
    const isHanging = hanging > 0 && clock.monotonic() - hungAt < tryAgainMs
    if (ahead !== undefined && isHanging) return ahead.text
    const found = await fromDisk().catch((error: unknown) => {
      if (ahead === undefined) throw error
      return ahead.base
    })
    see(found)
    return current(found)
  }

  async function copies(): Promise<(string | null)[]> {
    const asked = async () =>
      typeof storage.copies === 'function' ? storage.copies(key) : [textOf(await storage.getItem(key))]
    const texts = await withinLimit(clock, storageLimitMs, asked()).catch(() => [disk])
    return [...texts, ...landing]
  }

  function counted<T>(work: Promise<T>): Promise<T> {
    pending++
    return work.finally(() => pending--)
  }

  return {
    tail: () => tail,
    occupy: (done) => void counted((tail = done)),
    read: () => counted(read()),
    isReadable: () => succeeds(fromDisk()),
    update: (change, confirm) => counted(update(change, confirm)),
    takeBack: (seen) => queued(() => takeBack(seen)),
    copies: () => counted(copies()),
    onDisk: () => disk,
    inMemory: () => ahead?.text,
    forget: () => void (ahead = undefined),
    noteEmptied() {
      disk = null
      if (ahead) ahead.base = null
    },
    isBlank: () => disk === null && ahead === undefined && pending === 0,
  }
}
