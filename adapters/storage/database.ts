/** The database of the default storage, and its one object store. */
export const databaseName = 'fitting-room'
export const tableName = 'items'
