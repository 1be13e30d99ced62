import type { Shopper } from '../records/epochs.ts'

/** What is remembered of a shopper, made as it is first asked for; it goes as they go, whoever still holds on to them. */
export function perShopper<T>(make: () => T): (by: Shopper) => T {
  const known = new Map<Shopper, T>()
  return (by) => {
    const of = known.get(by) ?? make()
    if (by.aborted || known.has(by)) return of
    known.set(by, of)
    by.addEventListener('abort', () => known.delete(by), { once: true })
    return of
  }
}
