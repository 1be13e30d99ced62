import { quiet } from '../../src/platform/quiet.ts'
import type { SteadyClock } from '../../src/ports.ts'
import type { HistoryEntry } from '../../src/room.types.ts'
import type { TryOnState } from '../../src/rules/words.ts'
import type { Kept } from './kept.ts'

/** What is kept of a session for the next load: when somebody was active, in epoch ms. */
export interface LastActive {
  activeAt: number
}

/** All times in ms. */
export interface Span {
  idleMs: number
  /** How long work or news hold it after the last activity. */
  holdMs: number
}

/** What goes on by itself, or may have been paid for and have a picture yet. */
const working: readonly TryOnState[] = ['preparing', 'submitting', 'processing', 'preview', 'stalled']

/** A job goes on though an answer about it was of no use. */
const withJob: readonly TryOnState[] = ['unauthorized', 'protocolError']

/** What the shopper has left holds nothing. */
const isAtWork = ({ archived, state, jobId }: HistoryEntry) =>
  !archived && (working.includes(state) || (withJob.includes(state) && jobId !== null))

/** How often it is written down that somebody is active. */
const saveEveryMs = 5_000

/** How long a shopper's session has left: activity, work and pictures hold it, and a next load takes it up. */
export function createLifetime(clock: SteadyClock, kept: Kept<LastActive>, { idleMs, holdMs }: Span) {
  /** By the page's own time: when somebody was active, when there was news, when the first of these was written down. */
  let activeAt = -Infinity
  let newsAt = -Infinity
  let savedAt = -Infinity
  let isWorking = false
  /** What there was to see. */
  let pictures = ''

  function take(entries: readonly HistoryEntry[]): void {
    pictures = entries.flatMap(({ attemptId, state, result }) => (result ? `${attemptId} ${state}` : [])).join()
    isWorking = entries.some(isAtWork)
  }

  /** What is kept; rejects where it could not be taken away either, and so may be of a session that has ended. */
  async function lastActive() {
    let seen: LastActive | null = null
    // what has not changed would not be written
    await kept.update((old) => (seen = old) && { activeAt: old.activeAt - 1 })
    return seen as LastActive | null
  }

  return {
    /** A job that runs holds it, and a picture is there to be looked at, but not for ever. */
    leftMs() {
      const idleAt = isWorking ? Infinity : Math.max(activeAt, newsAt) + idleMs
      return Math.min(idleAt, activeAt + holdMs) - clock.elapsed()
    },
    noteActivity() {
      activeAt = clock.elapsed()
      if (activeAt - savedAt < saveEveryMs) return
      savedAt = activeAt
      const at = clock.now()
      // without it the next load begins with the wipe
      void quiet(kept.update(() => ({ activeAt: at })))
    },
    /** What there is to see of these, and whether one goes on. */
    take,
    /** As `take`; a picture that has come, or an end of the work without one, is news. */
    hear(entries: readonly HistoryEntry[]) {
      const [before, wasWorking] = [pictures, isWorking]
      take(entries)
      const isNews = (pictures !== before && pictures !== '') || (wasWorking && !isWorking)
      if (isNews) newsAt = clock.elapsed()
    },
    /** How long ago somebody was active before this load; Infinity where nobody knows. */
    async agoMs() {
      const seen = await lastActive().catch(() => null)
      const ms = seen ? clock.now() - seen.activeAt : Infinity
      return ms < 0 ? Infinity : ms
    },
    /** Goes on with the session of before this load. */
    takeUp(agoMs: number, entries: readonly HistoryEntry[]) {
      const cameAt = Math.max(...entries.map(({ result, savedAt: at }) => (result ? at : -Infinity)))
      activeAt = clock.elapsed() - agoMs
      newsAt = clock.elapsed() - Math.max(0, clock.now() - cameAt)
      take(entries)
    },
    /** The next load takes nothing up; rejects as storage does. */
    forget() {
      savedAt = -Infinity
      return kept.update(() => null)
    },
  }
}
