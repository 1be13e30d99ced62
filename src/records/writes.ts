import { quiet } from '../platform/quiet.ts'

/** The writes of one try-on that were begun: what is written by them is for the next page to find, and not to land behind its back. */
export function createWrites() {
  const begun = new Set<Promise<unknown>>()
  return {
    tracked<Given extends unknown[], T>(write: (...given: Given) => Promise<T>) {
      return (...given: Given): Promise<T> => {
        const writing = write(...given)
        begun.add(writing)
        void quiet(writing.finally(() => begun.delete(writing)))
        return writing
      }
    },
    /** Settles once all of them have ended; null where none is under way. */
    underWay: (): Promise<unknown> | null => (begun.size > 0 ? Promise.allSettled(begun) : null),
  }
}
