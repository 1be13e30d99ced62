import type { FlowStorage } from '../ports.ts'

/** What a stored text becomes; null where there is none, or none is to be. */
export type Change = (old: string | null) => string | null

/** One read-modify-write, as atomic as the storage can do it. */
export async function apply(storage: FlowStorage, key: string, change: Change): Promise<void> {
  // a shop's own item of that name is no method
  if (typeof storage.update === 'function') {
    await storage.update(key, (old: unknown) => change(textOf(old)))
    return
  }
  const old = textOf(await storage.getItem(key))
  const value = change(old)
  if (value === old) return
  await (value === null ? storage.removeItem(key) : storage.setItem(key, value))
}

/** Removes what is stored under these keys, at once where the storage can, but for what `isKept` says yes to. */
export async function removeFrom(
  storage: FlowStorage,
  keys: readonly string[],
  isKept: (value: string) => boolean,
): Promise<void> {
  const removeOne = (key: string) => apply(storage, key, (old) => (old !== null && isKept(old) ? old : null))
  if (typeof storage.removeItems === 'function') await storage.removeItems(keys, isKept)
  else await Promise.all(keys.map(removeOne))
}

/** A stored value as text: stores may hand back the parsed object, and nothing in more than one way. */
export const textOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value)
