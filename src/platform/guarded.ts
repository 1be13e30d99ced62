/** A listener whose failure is reported, and stops nothing of the room's. */
export function guarded<T>(listener: (value: T) => unknown): (value: T) => void {
  return (value) => {
    try {
      const done = listener(value)
      if (done instanceof Promise) done.catch(report)
    } catch (error) {
      report(error)
    }
  }
}

/** Tells developers of what was not foreseen: a page as of any uncaught error, which would end a server's process. */
export function report(error: unknown): void {
  const tell = typeof document === 'undefined' ? console.error : (globalThis.reportError ?? console.error)
  // whoever listens there may ask for anything
  setTimeout(() => tell(error))
}

/** What an application wants to hear errors with, on a server; where it breaks, that is nobody's fault who waits. */
export function reporter(onError: (error: unknown) => void = console.error): (error: unknown) => void {
  return (error) => {
    try {
      onError(error)
    } catch (own) {
      console.error(own)
    }
  }
}
