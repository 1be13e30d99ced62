/** The database of the default storage, and its one object store. */
export const databaseName = 'fitting-room'
export const tableName = 'items'

/** Whether the platform has one, which may not even let itself be looked for: then it fails as it is used. */
export function hasDatabase(): boolean {
  try {
    return globalThis.indexedDB !== undefined
  } catch {
    return true
  }
}
