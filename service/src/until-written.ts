import type { Clock } from './ports.ts'

interface Terms {
  clock: Clock
  /** How long it is tried, and how often, in ms. */
  forMs: number
  everyMs: number
  /** Hears of each failure. */
  report: (error: unknown) => void
}

/** What has happened elsewhere, or was paid for, stands only once it is written: that is tried again. Rejects as the last try. */
export async function untilWritten(
  write: () => Promise<unknown>,
  { clock, forMs, everyMs, report }: Terms,
): Promise<void> {
  const until = clock.now() + forMs
  for (;;) {
    try {
      await write()
      return
    } catch (error) {
      report(error)
      if (clock.now() >= until) throw error
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
  }
}
