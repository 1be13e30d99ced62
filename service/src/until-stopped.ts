/** How often it is looked whether the program that started this one is still there, in ms. */
const lookMs = 500

/** Who started it, as of then. */
const parent = process.ppid

/**
 * Resolves once this process is asked to end: by a signal, or because the `npm` that started it is gone, whose shell
 * passes no signal on. Asking again, as an `npm` does that got the signal too, ends it no sooner.
 */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
    if (process.env['npm_lifecycle_event'] === undefined) return
    setInterval(() => process.ppid !== parent && resolve(), lookMs).unref()
  })
}
