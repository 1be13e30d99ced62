export {
  createFittingRoom,
  type FittingRoom,
  type FittingRoomOptions,
  type ListedAttempt,
  type RoomTiming,
  type TryOnProduct,
} from './room.ts'
export type { StartOptions, TryOn } from './try-on.ts'
export type { ResultOptions } from './result.ts'
export type { PhotoInput } from './photo-input.ts'
export type { RoomPhoto } from './photos.ts'
export type { Visitor } from './visitor.ts'
export { explain, TryOnError, type Problem } from './problem.ts'
export type { AttemptView, Intent, Progress, TryOnResult, TryOnState, TryOnView } from '../machines/try-on.view.ts'
export type {
  Clock,
  Fetch,
  FlowStorage,
  MaybePromise,
  PhotoStore,
  PutOptions,
  PutPhoto,
  Readable,
  StoredPhoto,
  UploadProgress,
} from './ports.ts'
