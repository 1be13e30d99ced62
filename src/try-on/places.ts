import { askWithin } from '../platform/clock.ts'
import { quiet } from '../platform/quiet.ts'
import type { SteadyClock, SubmissionLimit } from '../ports.ts'
import { problem, type Problem } from '../rules/problem.ts'
import type { AttemptRecord } from '../rules/record.ts'

/** The places that a device has for submissions, each taken before its claim. */
export interface Places {
  /** Resolves with why there is none, or null where it is taken. */
  take(record: AttemptRecord, signal: AbortSignal | undefined): Promise<Problem | null>
  giveBack(record: AttemptRecord): void
}

/** How long a device's limit may take to answer, in ms. */
const limitMs = 5_000

/** What there is to say of a limit that says something else. */
const notTold: Problem = { kind: 'internal', sent: false }

/** As many as are asked for where nothing limits them. */
export function createPlaces(limit: SubmissionLimit | undefined, clock: SteadyClock): Places {
  /** Where that fails the place stays taken, which is on the safe side. */
  function giveBack({ attemptId }: AttemptRecord): void {
    if (limit) void quiet(Promise.resolve(attemptId).then((id) => limit.giveBack(id)))
  }

  return {
    giveBack,
    async take(record, signal) {
      if (!limit) return null
      return askWithin(clock, limitMs, () => limit.take(record.attemptId)).then(
        // an application's own may say what no page could read again
        (reached) => reached && (problem.safeParse({ ...reached, kind: 'deviceLimit' }).data ?? notTold),
        () => {
          // it may be taken late; of a page that was left it is whose who goes on, as this page may
          if (!signal?.aborted) giveBack(record)
          return { kind: 'storage' }
        },
      )
    },
  }
}
