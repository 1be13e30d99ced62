import { part } from '../../src/records/names.ts'

/** What a load finds though all that the device keeps has failed. A page may have none of these areas, or not be permitted to use them. */
export interface Marks {
  /** Whether a session's end was begun, and not done. */
  isLocked(): boolean
  lock(isLocked: boolean): void
  /** Whether this tab has loaded before while the browser ran: what localStorage has is then what was written last. */
  readonly hasRun: boolean
}

/** Only the second one outlasts the browser. */
const places = [() => sessionStorage, () => localStorage]

export function marksOf(name: string): Marks {
  const keyOf = (what: string) => ['fitting-room', 'kiosk', part(name), what].join(':')
  const inEach = <T>(of: typeof places, work: (storage: Storage) => T) =>
    of.map((place) => {
      try {
        return work(place())
      } catch {
        return null
      }
    })
  const isSet = (of: typeof places, what: string) =>
    inEach(of, (storage) => storage.getItem(keyOf(what))).some((found) => found !== null)
  const set = (of: typeof places, what: string) => void inEach(of, (storage) => storage.setItem(keyOf(what), 'yes'))
  const ofTab = places.slice(0, 1)
  // a browser that restores its tabs brings back what each of them had
  const [navigation] = (globalThis.performance?.getEntriesByType?.('navigation') ?? []) as PerformanceNavigationTiming[]
  const hasRun = isSet(ofTab, 'loaded') && navigation?.type !== 'back_forward'
  set(ofTab, 'loaded')
  return {
    hasRun,
    isLocked: () => isSet(places, 'locked'),
    lock(isLocked) {
      if (isLocked) set(places, 'locked')
      else inEach(places, (storage) => storage.removeItem(keyOf('locked')))
    },
  }
}
