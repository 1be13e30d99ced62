export { createFittingRoom, type FittingRoomOptions } from './door/room.ts'
export type { Core, FittingRoom, HistoryEntry, ListedAttempt, Outside } from './room.types.ts'
export type { RoomOptions, RoomTiming, TryOnProduct } from './options.ts'
export type { DiscardOptions, EmailForm, Inspect, InspectEvent, StartOptions, TryOn } from './try-on/try-on.types.ts'
export type { ResultOptions } from './try-on/result.ts'
export type { PhotoInput } from './shopper/photo-input.ts'
export type { FollowPageLife, PageLife } from './pages/page-life.ts'
export type { Stored } from './records/stored.ts'
export type { RandomBytes } from './platform/new-id.ts'
export type { RoomPhoto } from './shopper/photos.ts'
export type { PhotoOptions, PreparationOptions } from './shopper/preparation.ts'
export type { Visitor } from './shopper/unknown-visitor.ts'
export type {
  Client,
  ClientOptions,
  ClientTiming,
  RequestOptions,
  SubmitOptions,
  UploadOptions,
  VisitorQuery,
} from './wire/client.ts'
export { explain } from './rules/explain.ts'
export { isTryOnError, TryOnError } from './rules/try-on-error.ts'
export type {
  ConsentExpiredProblem,
  CoreProblem,
  DeadlineProblem,
  DeviceLimitProblem,
  EmailRequiredProblem,
  InputProblem,
  InternalProblem,
  InterruptedProblem,
  JobFailedProblem,
  KeyProblem,
  LimitReachedProblem,
  NotAllowedProblem,
  NotSentProblem,
  OutcomeUnknownProblem,
  PaidJobProblem,
  PhotoAdviceProblem,
  PhotoProblem,
  PictureProblem,
  Problem,
  ProblemKind,
  ProtocolProblem,
  RecordUnreadableProblem,
  RefusedProblem,
  RequestFacts,
  StoppedProblem,
  StorageProblem,
  StorageUnreadableProblem,
  ThrottledProblem,
  TicketProblem,
  UnavailableProblem,
} from './rules/problem.ts'
export type { RoomEvent, RoomEventType } from './rules/room-event.ts'
export type { AttemptView, Progress, Trouble, TryOnResult, TryOnView } from './rules/view.ts'
export type { Intent, TryOnGroup, TryOnState } from './rules/words.ts'
export type { Phase } from './rules/phases.ts'
export type { Outcome, Refusal, Requested, Situation, Unusable } from './rules/outcome.ts'
export type { InspectedRequest } from './wire/operations.ts'
export type { Operation } from './contract/endpoints.ts'
export type { StoreId } from './contract/forms.ts'
export type { Funnel } from './contract/resources.ts'
export type {
  Budget,
  BudgetRequest,
  Clock,
  Fetch,
  FlowStorage,
  MaybePromise,
  Notice,
  PhotoAdvice,
  PhotoStore,
  PreparedPhoto,
  PreparePhoto,
  PrepareTerms,
  PutOptions,
  PutPhoto,
  ReachedLimit,
  Readable,
  StoredPhoto,
  SubmissionLimit,
  UploadProgress,
} from './ports.ts'
