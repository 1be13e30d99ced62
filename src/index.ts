export { createFittingRoom, type FittingRoom, type ListedAttempt } from './room.ts'
export type { FittingRoomOptions, RoomTiming, TryOnProduct } from './options.ts'
export type { DiscardOptions, EmailForm, Inspect, InspectEvent, StartOptions, TryOn } from './try-on/try-on.types.ts'
export type { ResultOptions } from './try-on/result.ts'
export type { PhotoInput } from './shopper/photo-input.ts'
export type { RoomPhoto } from './shopper/photos.ts'
export type { Visitor } from './shopper/visitor.ts'
export type {
  Client,
  ClientOptions,
  ClientTiming,
  RequestOptions,
  SubmitOptions,
  UploadOptions,
  VisitorQuery,
} from './wire/client.ts'
export {
  explain,
  isTryOnError,
  TryOnError,
  type ConsentExpiredProblem,
  type DeadlineProblem,
  type EmailRequiredProblem,
  type InputProblem,
  type InternalProblem,
  type InterruptedProblem,
  type JobFailedProblem,
  type KeyProblem,
  type LimitReachedProblem,
  type NotAllowedProblem,
  type NotSentProblem,
  type OutcomeUnknownProblem,
  type PaidJobProblem,
  type PhotoProblem,
  type Problem,
  type ProblemKind,
  type ProtocolProblem,
  type RecordUnreadableProblem,
  type RefusedProblem,
  type RequestFacts,
  type StoppedProblem,
  type StorageProblem,
  type StorageUnreadableProblem,
  type ThrottledProblem,
  type UnavailableProblem,
} from './rules/problem.ts'
export type { AttemptView, Progress, Trouble, TryOnResult, TryOnView } from './rules/view.ts'
export type { Intent, TryOnGroup, TryOnState } from './rules/words.ts'
export type { Phase } from './rules/record.ts'
export type { Outcome, Refusal, Requested, Situation, Unusable } from './rules/outcome.ts'
export type { Operation } from './contract/endpoints.ts'
export type { StoreId } from './contract/ids.ts'
export type { Funnel } from './contract/resources.ts'
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
