import type { Intent, Problem, ProblemKind, TryOnResult, TryOnState, TryOnView } from 'fitting-room'

/** The view of one state. */
export type ViewOf<State extends TryOnState> = TryOnView & { readonly state: State }

/** What a test may want otherwise; a state keeps its group. */
export type ViewChanges<State extends TryOnState> = Partial<Omit<ViewOf<State>, 'state' | 'group'>>

const picture = 'data:image/svg+xml,%3Csvg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 4"%3E%3Cpath fill='
const pictureOf = (colour: string) => `${picture}"${colour}" d="M0 0h3v4H0z"/%3E%3C/svg%3E`

const result: TryOnResult = {
  status: 'SUCCESS',
  imageUrl: pictureOf('teal'),
  requestsLeft: 2,
  totalRequests: 1,
  uniqueUserId: 'visitor-1',
  storageStatus: 'READY',
}
const preview: TryOnResult = { ...result, imageUrl: pictureOf('silver'), storageStatus: 'PENDING' }

const facts = (operation: 'createGeneration' | 'getGeneration', status: number | null, error: string | null) => ({
  operation,
  status,
  error,
})

/** One problem of every kind, as they come from the service or from the page. */
export const problems: { readonly [Kind in ProblemKind]: Extract<Problem, { kind: Kind }> } = {
  refused: {
    kind: 'refused',
    situation: 'requestRefused',
    ...facts('createGeneration', 403, 'Product is not assigned to this funnel'),
  },
  key: { kind: 'key', situation: 'keyRefused', ...facts('createGeneration', 401, 'Unauthorized') },
  emailRequired: {
    kind: 'emailRequired',
    situation: 'emailRequired',
    ...facts('createGeneration', 403, 'email_required'),
    code: 'EMAIL_REQUIRED',
  },
  limitReached: {
    kind: 'limitReached',
    situation: 'tryOnLimit',
    ...facts('createGeneration', 429, 'try_on_limit_reached'),
    code: 'TRY_ON_LIMIT_REACHED',
    message: 'Come back tomorrow!',
  },
  throttled: {
    kind: 'throttled',
    situation: 'ipLimit',
    ...facts('createGeneration', 429, 'Rate limit exceeded'),
  },
  unavailable: { kind: 'unavailable', situation: 'serverError', ...facts('getGeneration', 503, 'Service unavailable') },
  notSent: { kind: 'notSent', situation: 'offline', ...facts('createGeneration', null, null) },
  outcomeUnknown: { kind: 'outcomeUnknown', situation: 'lost', ...facts('createGeneration', null, null) },
  protocol: { kind: 'protocol', situation: 'misfit', ...facts('createGeneration', 200, null), at: 'data.jobId' },
  interrupted: { kind: 'interrupted' },
  core: { kind: 'core', reload: false },
  jobFailed: { kind: 'jobFailed', error: 'No person was found in the photo' },
  deadline: { kind: 'deadline' },
  photo: { kind: 'photo', reason: 'missing' },
  photoAdvice: { kind: 'photoAdvice', advice: 'dark' },
  ticket: { kind: 'ticket', reason: 'repeated' },
  picture: { kind: 'picture', reason: 'gone' },
  deviceLimit: { kind: 'deviceLimit', limit: 'perShopper', nextAt: null },
  input: { kind: 'input', at: 'email' },
  storage: { kind: 'storage' },
  storageUnreadable: { kind: 'storageUnreadable' },
  recordUnreadable: { kind: 'recordUnreadable' },
  consentExpired: { kind: 'consentExpired' },
  notAllowed: { kind: 'notAllowed', intent: 'start', state: 'processing' },
  paidJob: { kind: 'paidJob' },
  stopped: { kind: 'stopped', reason: 'startedOver' },
  internal: { kind: 'internal', sent: false },
}

const intents: readonly Intent[] = ['start', 'submitEmail', 'resume', 'retry', 'startOver', 'discard']
const may = (...permitted: Intent[]) =>
  Object.fromEntries(intents.map((intent) => [intent, permitted.includes(intent)])) as Record<Intent, boolean>

const empty = {
  attempt: null,
  funnel: null,
  etaSeconds: null,
  progress: null,
  preview: null,
  result: null,
  message: null,
  problem: null,
  trouble: null,
  waitingUntil: null,
  durable: true,
  metadataKept: false,
  exclusive: true,
  can: may(),
} as const
const funnel = { id: 12, funnelType: 'upper_body', generationModel: 'SERVICE_FAST' } as const
const attempt = { id: 'attempt-1', jobId: null, startedAt: Date.UTC(2026, 10, 1, 12) }
const begun = { ...empty, funnel, attempt }
const withJob = {
  ...begun,
  attempt: { ...attempt, jobId: '00000000-0000-4000-8000-000000000001' },
  etaSeconds: 40,
}
const generating = (value: number) => ({ phase: 'generation', value, exact: false, bytes: null }) as const
const stopped = { group: 'stopped' } as const

/** One view of every state, exactly as a room shows it. */
export const views: { readonly [State in TryOnState]: ViewOf<State> } = {
  restoring: { ...empty, state: 'restoring', group: 'waiting' },
  idle: { ...empty, state: 'idle', group: 'ready', can: may('start', 'discard') },
  preparing: {
    ...begun,
    state: 'preparing',
    group: 'busy',
    progress: { phase: 'upload', value: 0.4, exact: true, bytes: { sent: 400_000, total: 1_000_000 } },
    can: may('start', 'startOver', 'discard'),
  },
  submitting: { ...begun, state: 'submitting', group: 'busy' },
  needsEmail: { ...begun, state: 'needsEmail', group: 'asks', can: may('submitEmail', 'startOver', 'discard') },
  processing: { ...withJob, state: 'processing', group: 'busy', progress: generating(0.3), can: may('startOver') },
  preview: { ...withJob, state: 'preview', group: 'busy', progress: generating(0.8), preview, can: may('startOver') },
  stalled: {
    ...withJob,
    ...stopped,
    state: 'stalled',
    problem: problems.deadline,
    can: may('resume', 'retry', 'startOver'),
  },
  unauthorized: {
    ...begun,
    ...stopped,
    state: 'unauthorized',
    problem: problems.key,
    can: may('resume', 'retry', 'startOver', 'discard'),
  },
  final: { ...withJob, state: 'final', group: 'done', preview, result, can: may('retry', 'startOver', 'discard') },
  failed: {
    ...withJob,
    ...stopped,
    state: 'failed',
    problem: problems.jobFailed,
    can: may('retry', 'startOver', 'discard'),
  },
  outcomeUnknown: {
    ...begun,
    ...stopped,
    state: 'outcomeUnknown',
    problem: problems.outcomeUnknown,
    can: may('retry', 'startOver'),
  },
  limitReached: {
    ...begun,
    ...stopped,
    state: 'limitReached',
    problem: problems.limitReached,
    message: 'Come back tomorrow!',
    can: may('retry', 'startOver', 'discard'),
  },
  rejected: {
    ...begun,
    ...stopped,
    state: 'rejected',
    problem: problems.refused,
    can: may('retry', 'startOver', 'discard'),
  },
  protocolError: {
    ...begun,
    ...stopped,
    state: 'protocolError',
    problem: problems.protocol,
    can: may('retry', 'startOver'),
  },
}

/** A view of that state with something about it changed. Throws a `TypeError` for what is no state, or no part of a view. */
export function viewOf<State extends TryOnState>(state: State, changes: ViewChanges<State> = {}): ViewOf<State> {
  const view: ViewOf<State> = stateNamed(state)
  for (const name of Object.keys(changes))
    if (!Object.hasOwn(view, name)) throw new TypeError(`viewOf() changes parts of a view, and "${name}" is none`)
  return { ...view, ...changes }
}

/** The view of a state; throws a `TypeError` for what is none. */
export function stateNamed<State extends TryOnState>(state: State): ViewOf<State> {
  if (Object.hasOwn(views, state)) return views[state]
  throw new TypeError(`the states of a view are ${Object.keys(views).join(', ')}, and "${state}" is none`)
}
