import { isFormer } from './counts.ts'
import { jsonIn } from './json.ts'
import { jobPhases, unsentPhases, type Phase } from './phases.ts'

/**
 * Several tiers of storage may hold copies of one value, from page loads in which not all of them worked. Which copy
 * holds is judged by what the value says of itself, never by which tier it came from.
 */

/** What the values of a room say of themselves, each kind a part of it. */
interface Value {
  savedAt?: number
  /** Of a lease. */
  until?: number | undefined
  attemptId?: string
  startedAt?: number
  phase?: Phase
  job?: object | undefined
  problem?: { kind?: string; operation?: string } | undefined
  /** Of the catalog: what it names, which attempts were left or discarded, and how often each storage was reset. */
  entries?: Record<string, number>
  left?: Record<string, number>
  discarded?: Record<string, number>
  epochs?: Record<string, number>
  /** When one of them was last reset, and when it was begun. */
  resetAt?: number
  begunAt?: number
}

/** When something that a catalog names expires that goes the next time anybody looks. */
export const dueNow = 0

/** The same names, all of them due. */
export const allDue = (entries: Record<string, number>): Record<string, number> =>
  Object.fromEntries(Object.keys(entries).map((key) => [key, dueNow]))

/** The copy that holds of `texts`; null where there is none. Catalogs are merged. */
export function prevailing(texts: readonly (string | null)[]): string | null {
  const present = texts.filter((text) => text !== null)
  if (new Set(present).size <= 1) return present[0] ?? null
  const catalogs = present.map(valueIn).filter((value) => value.entries !== undefined)
  if (catalogs.length > 1) return JSON.stringify(catalogs.reduce(merged))
  return present.reduce((best, text) => (isBefore(valueIn(best), valueIn(text)) ? text : best))
}

/** Whether a value is kept in every tier: what any of them holds has to be listed, whichever are lost or fail later. */
export const isEverywhere = (text: string | null): boolean => text !== null && valueIn(text).entries !== undefined

/**
 * What is left of a copy once `current` was written elsewhere in place of `base`, or that was removed: nothing, unless it
 * is another attempt than both that may have been paid. Where the copy is on disk before that one it stays, but for what
 * it would have submitted.
 */
export function leftOf(copy: string, current: string | null, base: string | null, isAhead = false): string | null {
  const old = valueIn(copy)
  const { attemptId } = old
  const isOfNow = attemptId === valueIn(current).attemptId
  const isKept = isOfNow ? isAhead : attemptId !== valueIn(base).attemptId
  return current !== null && isKept && (mayBePaid(old) || (isOfNow && !attemptId)) ? copy : null
}

/** Whether money may have been spent on an attempt: then it is archived, and dropped on the shopper's word alone. */
export function mayBePaid({ job, phase, problem }: Value): boolean {
  // what was answered against the contract was accepted all the same
  const isAccepted =
    phase === 'protocolError' && problem?.kind === 'protocol' && problem.operation === 'createGeneration'
  return job !== undefined || phase === 'claimed' || isAccepted
}

/** How far the job of an attempt has come; 0 where there is none. */
const progressOf = ({ phase }: Value) => jobPhases.indexOf(phase as Phase) + 1
/** What would be submitted without anybody's doing. */
const goesOnByItself = ({ phase }: Value) => unsentPhases.includes(phase as Phase)

/** Whether the other one has come further, or, of two attempts, was begun later. */
export function isBefore(one: Value, other: Value): boolean {
  if (one.attemptId === other.attemptId) {
    if (progressOf(one) !== progressOf(other)) return progressOf(one) < progressOf(other)
    if (one.savedAt === other.savedAt) return goesOnByItself(one)
    return savedAt(one) < savedAt(other)
  }
  // of two attempts that each was to replace the other, the one that might pay by itself gives way
  if (goesOnByItself(one) !== goesOnByItself(other)) return goesOnByItself(one)
  return (one.startedAt ?? savedAt(one)) < (other.startedAt ?? savedAt(other))
}

const savedAt = ({ savedAt: saved, until }: Value) => Number(saved ?? until) || 0

function merged(first: Value, second: Value): Value {
  const one = besides(second, first)
  const other = besides(first, second)
  return {
    ...one,
    ...other,
    savedAt: Math.max(savedAt(one), savedAt(other)),
    entries: highest(one.entries, other.entries),
    left: highest(one.left, other.left),
    discarded: highest(one.discarded, other.discarded),
    epochs: highest(one.epochs, other.epochs),
    resetAt: Math.max(one.resetAt ?? 0, other.resetAt ?? 0),
    begunAt: Math.min(one.begunAt ?? 0, other.begunAt ?? 0),
  }
}

/** A copy of a catalog, of which nothing holds where it is from before a reset that the other one tells of: what it names is due. */
function besides({ epochs: told = {} }: Value, copy: Value): Value {
  return isFormer(copy.epochs ?? {}, told)
    ? { ...copy, entries: allDue(copy.entries ?? {}), left: {}, discarded: {} }
    : copy
}

/** Every name of both with the higher of its numbers. */
function highest(one: Record<string, number> = {}, other: Record<string, number> = {}): Record<string, number> {
  const all = { ...one }
  for (const [name, number] of Object.entries(other)) all[name] = Math.max(all[name] ?? number, number)
  return all
}

const valueIn = (text: string | null): Value => Object(jsonIn(text))
