import * as is from '../../src/contract/schema.ts'
import { newId } from '../../src/platform/new-id.ts'
import { systemClock } from '../../src/platform/system-clock.ts'
import type { ReachedLimit, SubmissionLimit } from '../../src/ports.ts'
import { check } from '../../src/rules/check.ts'
import { keptValue, type DeviceOptions } from './kept.ts'

export interface DeviceLimitsOptions extends DeviceOptions {
  /** How many try-ons one shopper may begin. Default: any number. */
  perShopper?: number | undefined
  /** How many try-ons may begin within an hour, by all shoppers together. Default: any number. */
  perHour?: number | undefined
}

/** A room's `limit`. It counts submissions that may have been paid for, across reloads and `reset()`. */
export interface DeviceLimits extends SubmissionLimit {
  take(attemptId: string): Promise<ReachedLimit | null>
  giveBack(attemptId: string): Promise<void>
  /** Counts for another shopper from now on; a session calls it when it ends. */
  nextShopper(): Promise<void>
}

/**
 * An attempt's place, when it was taken, and since when the clock stands before that (epoch ms), and which page loads hold
 * it: what one gives back may be another one's job.
 */
const taken = is.listOf(
  is.object({
    id: is.text,
    at: is.number,
    since: is.optional(is.number),
    isFormer: is.boolean,
    by: is.listOf(is.text),
  }),
)
type Taken = is.TypeOf<typeof taken>

const hourMs = 3_600_000

/**
 * Counts in the device's storage; if that fails, nothing is sent. Throws `TryOnError` of kind `input` for limits that
 * are not numbers from 1.
 */
export function deviceLimits(options: DeviceLimitsOptions): DeviceLimits {
  const { clock = systemClock, perShopper = Infinity, perHour = Infinity } = options
  for (const [at, limit] of Object.entries({ perShopper, perHour })) check(limit >= 1, at, limit, 'a number from 1')
  const kept = keptValue(options, clock, 'taken', is.object({ taken }))

  /** Those that still count; where the clock was set back they count from now on, until it may be right again. */
  function counting(all: Taken): Taken {
    const now = clock.now()
    return all
      .map((each) => ({ ...each, since: each.at > now ? Math.min(each.since ?? now, now) : undefined }))
      .filter((each) => !each.isFormer || isOfHour(each))
  }

  const countedAt = ({ at, since }: Taken[number]) => since ?? at
  const isOfHour = (each: Taken[number]) => clock.now() - countedAt(each) < hourMs

  const update = (change: (counted: Taken) => Taken) =>
    kept.update((old) => ({ taken: change(counting(old?.taken ?? [])) }))

  function reachedBy(counted: Taken): ReachedLimit | null {
    if (counted.filter(({ isFormer }) => !isFormer).length >= perShopper) return { limit: 'perShopper', nextAt: null }
    const ofHour = counted
      .filter(isOfHour)
      .map(countedAt)
      .sort((one, other) => one - other)
    // there may be more than a limit of now lets out
    return ofHour.length >= perHour ? { limit: 'perHour', nextAt: ofHour.at(-perHour)! + hourMs } : null
  }

  /** It is somebody else, which could not be written down yet. */
  let isNext = false

  /** Which attempts they were is the former shopper's own. */
  function asFormer(counted: Taken): Taken {
    const renamed = counted.flatMap(({ id, isFormer }) => (isFormer ? [] : [[id, newId()] as const]))
    const counts = new Set(counted.map(({ id }) => id))
    former = new Map([...[...former].filter(([, name]) => counts.has(name)), ...renamed])
    return counting(counted.map((each) => ({ ...each, id: former.get(each.id) ?? each.id, isFormer: true })))
  }

  /** This page load. */
  const own = newId()
  /** What the places of the shoppers before are called since: a refusal may come late. */
  let former = new Map<string, string>()

  return {
    async take(id) {
      let reached: ReachedLimit | null = null
      let isOver = false
      const taking = update((before) => {
        // it was given back before it could be taken
        if (isOver) return before
        const counted = isNext ? asFormer(before) : before
        const [known] = counted.filter((each) => each.id === id)
        const others = counted.filter((each) => each.id !== id)
        // an update may be tried again
        reached = known ? null : reachedBy(counted)
        if (reached) return counted
        const by = [...(known?.by ?? []).filter((each) => each !== own), own]
        return [...others, { id, at: clock.now(), isFormer: known?.isFormer ?? false, by }]
      })
      await taking.finally(() => (isOver = true))
      isNext = false
      return reached
    },
    giveBack: (id) =>
      update((counted) =>
        counted
          .map((each) =>
            // what it is called since may not have been written down
            each.id === id || each.id === former.get(id)
              ? { ...each, by: each.by.filter((page) => page !== own) }
              : each,
          )
          .filter(({ by }) => by.length > 0),
      ),
    async nextShopper() {
      isNext = true
      await update(asFormer)
      isNext = false
    },
  }
}
