export { manualClock, type ManualClock } from './clock.ts'
export { entryOf } from './entries.ts'
export { mockRoom, type HeardIntent, type MockRoom, type MockRoomOptions, type ProductName } from './room.ts'
export { problems, viewOf, views, type ViewChanges, type ViewOf } from './views.ts'
