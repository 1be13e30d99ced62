/** Every value that can be reached from one, as text. */
export function printed(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value !== 'object' || value === null) return String(value)
  if (seen.has(value)) return ''
  seen.add(value)
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return new TextDecoder('latin1').decode(value)
  if (value instanceof Blob) return `a blob of ${value.size} bytes`
  return Object.entries(value)
    .map(([name, each]) => `"${name}": ${printed(each, seen)}`)
    .join('\n')
}

/** All that a page's origin keeps, and what its address says, as text. */
export async function everythingKept(): Promise<string> {
  const settled = <T>(request: IDBRequest<T>) =>
    new Promise<T>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
  const kept: unknown[] = [{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state]
  for (const { name } of await indexedDB.databases()) {
    const database = await settled(indexedDB.open(name ?? ''))
    for (const table of database.objectStoreNames) {
      const items = () => database.transaction(table).objectStore(table)
      kept.push(await settled(items().getAllKeys()), await settled(items().getAll()))
    }
    database.close()
  }
  // pages that are not secure have none
  for (const name of 'caches' in globalThis ? await caches.keys() : [])
    kept.push((await (await caches.open(name)).keys()).map(({ url }) => url))
  return kept.map((each) => printed(each)).join('\n')
}

/** The same for a page that does not have it. */
export const keptExpression = `(() => { ${String(printed)}; ${String(everythingKept)}; return everythingKept() })()`
