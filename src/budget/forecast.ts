import type { MaybePromise } from '../ports.ts'
import type { AttemptRecord } from '../rules/record.ts'
import { withObserved } from './durations.ts'
import { nextLookMs, noTimes, type JobTimes } from './look.ts'

/** How long jobs took, by kind: by funnel type and model. */
export type Times = Readonly<Record<string, JobTimes>>

/** Where what was learnt is kept, one change at a time. */
interface KeptTimes {
  read(): Promise<Times | null>
  update(change: (old: Times | null) => Times): MaybePromise<unknown>
}

/** Tells when to look for what a job has come to, and learns from what the looks find. */
export interface Forecast {
  /** Reads what earlier pages have learnt. */
  restore(): Promise<void>
  /** A look at that age of the job, in ms, has found this record. */
  looked(record: AttemptRecord, ageMs: number): void
  /** How long until the next look, in ms. */
  nextLookMs(record: AttemptRecord, ageMs: number): number
}

/** What this page has seen of a job: between which two looks, in ms of its age, the preview came. */
interface Watched {
  lookedMs: number
  preview: readonly [low: number, high: number] | null
}

/** A job of that age, in ms, that this page sees for the first time tells nothing of how long such jobs take. */
const strangeMs = 300_000

/** How many jobs are watched at once, at the most. */
const watchedAtMost = 500

export function createForecast(kept: KeptTimes, price: () => number): Forecast {
  let times: Times = {}
  const watched = new Map<string, Watched>()

  function learn(record: AttemptRecord, how: (old: JobTimes) => JobTimes): void {
    const kind = kindOf(record)
    void kept.update((old) => (times = { ...(old ?? times), [kind]: how((old ?? times)[kind] ?? noTimes) }))
  }

  return {
    async restore() {
      times = (await kept.read().catch(() => null)) ?? times
    },

    looked(record, ageMs) {
      const { attemptId, phase } = record
      // of one that was not watched it is not known how long it has been there
      if (!watched.has(attemptId) && ageMs > strangeMs) return
      const { lookedMs, preview } = watched.get(attemptId) ?? { lookedMs: 0, preview: null }
      const seen = [lookedMs, Math.max(ageMs, lookedMs + 1)] as const
      const isShown = phase === 'preview' && preview === null
      if (isShown) learn(record, (old) => ({ ...old, preview: withObserved(old.preview, ...seen) }))
      watched.delete(attemptId)
      if (phase === 'accepted' || phase === 'preview') {
        watched.set(attemptId, { lookedMs: ageMs, preview: isShown ? seen : preview })
        if (watched.size > watchedAtMost) watched.delete([...watched.keys()][0]!)
        return
      }
      if (phase !== 'final') return
      learn(record, (old) => ({
        ...old,
        final: withObserved(old.final, ...seen),
        ...(preview && { ratio: withObserved(old.ratio, seen[0] / preview[1], seen[1] / Math.max(1, preview[0])) }),
      }))
    },

    nextLookMs(record, ageMs) {
      const preview = watched.get(record.attemptId)?.preview
      return nextLookMs(times[kindOf(record)] ?? noTimes, {
        etaMs: 1_000 * Math.max(1, record.job?.etaSeconds ?? 1),
        lookedMs: ageMs,
        previewMs: preview ? (preview[0] + preview[1]) / 2 : record.phase === 'preview' ? ageMs : null,
        price: price(),
      })
    },
  }
}

const kindOf = ({ funnel }: AttemptRecord) => `${funnel?.funnelType}:${funnel?.generationModel}`
