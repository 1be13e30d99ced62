import type { Store } from './ports.ts'

/** How far apart they may be, in ms, and how often that is looked at. */
const skewMs = 5_000
const lookMs = 10 * 60_000

/**
 * Reports a clock of this process that is not its database's, at once and from time to time, until it is stopped: what is
 * accepted, signed and deleted goes by the clocks of all processes.
 */
export function keepComparingClocks({ now }: Store, report: (error: unknown) => void): () => void {
  async function compare(): Promise<void> {
    const askedAt = Date.now()
    // a database that cannot be asked is told of by what needs it
    const theirs = await now?.().catch(() => undefined)
    if (theirs === undefined) return
    // it was read at some time between
    const aheadMs = Math.max(askedAt - theirs, 0) || Math.min(Date.now() - theirs, 0)
    if (Math.abs(aheadMs) <= skewMs) return
    const by = `${Math.round(Math.abs(aheadMs) / 1_000)} s ${aheadMs > 0 ? 'ahead of' : 'behind'}`
    report(new Error(`the clock of this process is ${by} its database's: keep both machines on one time, as by NTP`))
  }
  void compare()
  const timer = setInterval(() => void compare(), lookMs)
  timer.unref()
  return () => clearInterval(timer)
}
