export {
  createFittingRoom,
  type FittingRoom,
  type FittingRoomOptions,
  type ListedAttempt,
  type RoomTiming,
  type TryOnProduct,
} from './room.ts'
export type { StartOptions, TryOn } from './try-on/try-on.ts'
export type { ResultOptions } from './try-on/result.ts'
export type { PhotoInput } from './shopper/photo-input.ts'
export type { RoomPhoto } from './shopper/photos.ts'
export type { Visitor } from './shopper/visitor.ts'
export { explain, TryOnError, type Problem } from './rules/problem.ts'
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
