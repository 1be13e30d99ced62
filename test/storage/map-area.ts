/** The Web Storage interface over a Map, for where no browser is. */
export function mapArea(): Storage {
  const items = new Map<string, string>()
  return {
    [Symbol.toStringTag]: 'Storage',
    get length() {
      return items.size
    },
    clear: () => items.clear(),
    getItem: (key) => items.get(key) ?? null,
    key: (index) => [...items.keys()][index] ?? null,
    removeItem: (key) => void items.delete(key),
    setItem: (key, value) => void items.set(key, value),
  }
}
