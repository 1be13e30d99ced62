import type { SnapshotFrom } from 'xstate'
import type { Funnel, JobSuccess } from '../src/contract/resources.ts'
import type { UploadProgress } from '../src/ports.ts'
import type { Problem } from '../src/rules/problem.ts'
import { Private } from './private.ts'
import type { tryOnMachine } from './try-on.machine.ts'
import type { TryOnContext } from './try-on.types.ts'

/** What a UI may ask for. */
export type Intent = 'start' | 'submitEmail' | 'resume' | 'retry' | 'startOver' | 'discard'

/** The fields of Success; `imageUrl` is the picture to show: the permanent one once that is READY (spec §2). */
export type TryOnResult = JobSuccess

export interface AttemptView {
  id: string
  jobId: string | null
  /** Epoch ms. */
  startedAt: number
}

export interface Progress {
  phase: 'upload' | 'generation'
  /** 0 to 1. */
  value: number
  /** False where the value is an estimate. */
  exact: boolean
  /** Of an upload, in bytes. */
  bytes: UploadProgress | null
}

interface ViewFields {
  attempt: AttemptView | null
  funnel: Funnel | null
  /** The service's estimate, in seconds. */
  etaSeconds: number | null
  progress: Progress | null
  /** A temporary picture; never the final one. */
  preview: TryOnResult | null
  result: TryOnResult | null
  /** The merchant's text: render it as text. */
  message: string | null
  problem: Problem | null
  /** Epoch ms until which a request waits; null when none does. */
  waitingUntil: number | null
  /** False when only memory holds this try-on, so that a reload would lose it. */
  durable: boolean
  /** False where no lock or atomic update exists. */
  exclusive: boolean
  /** Which intents are permitted now. */
  can: Readonly<Record<Intent, boolean>>
}

type Stops = 'failed' | 'outcomeUnknown' | 'limitReached' | 'rejected' | 'protocolError' | 'unauthorized'

/** What a UI renders, told apart by `state`. */
export type TryOnView = Readonly<
  ViewFields &
    (
      | { state: 'restoring' | 'idle' | 'preparing' | 'submitting' | 'needsEmail' }
      | { state: 'processing' | 'stalled' }
      | { state: 'preview'; attempt: AttemptView; preview: TryOnResult }
      | { state: 'final'; attempt: AttemptView; result: TryOnResult }
      | { state: Stops; attempt: AttemptView; problem: Problem }
    )
>
export type TryOnState = TryOnView['state']

const intents: readonly Intent[] = ['start', 'submitEmail', 'resume', 'retry', 'startOver', 'discard']

/** The view before storage has been read, and always on a server. */
export const restoringView: TryOnView = Object.freeze({
  state: 'restoring',
  attempt: null,
  funnel: null,
  etaSeconds: null,
  progress: null,
  preview: null,
  result: null,
  message: null,
  problem: null,
  waitingUntil: null,
  durable: true,
  exclusive: true,
  can: Object.freeze(Object.fromEntries(intents.map((intent) => [intent, false])) as Record<Intent, boolean>),
})

/** The view of a snapshot, and nothing but the snapshot. */
export function tryOnView(snapshot: SnapshotFrom<typeof tryOnMachine>): TryOnView {
  const { context } = snapshot
  const { record } = context
  const state = stateOf(snapshot)
  if (state === 'restoring') return restoringView
  const result = record?.result ? shown(record.result) : null
  const fields: ViewFields & { state: TryOnState } = {
    state,
    attempt: record && { id: record.attemptId, jobId: record.job?.jobId ?? null, startedAt: record.startedAt },
    funnel: record?.funnel ?? null,
    etaSeconds: record?.job?.etaSeconds ?? null,
    progress: progressOf(state, context),
    preview: record?.phase === 'preview' ? result : null,
    result: record?.phase === 'final' ? result : null,
    message: merchantText(record?.problem ?? null),
    problem: problemOf(state, context),
    waitingUntil: context.waitingUntil,
    durable: context.durable,
    exclusive: context.exclusive,
    can: permitted(snapshot),
  }
  return fields as TryOnView
}

function stateOf(snapshot: SnapshotFrom<typeof tryOnMachine>): TryOnState {
  const [state] = typeof snapshot.value === 'string' ? [snapshot.value] : Object.keys(snapshot.value)
  if (state === 'following') return snapshot.context.record?.phase === 'preview' ? 'preview' : 'processing'
  if (state === 'leaving' || state === 'discarding') return 'restoring'
  return state as TryOnState
}

const noForm = new Private({ email: '' })

function permitted(snapshot: SnapshotFrom<typeof tryOnMachine>): ViewFields['can'] {
  const consent = { photoId: '' }
  return {
    start: snapshot.can({ type: 'start', consent }),
    submitEmail: snapshot.can({ type: 'submitEmail', form: noForm }),
    resume: snapshot.can({ type: 'resume' }),
    retry: snapshot.can({ type: 'retry', consent }),
    startOver: snapshot.can({ type: 'startOver' }),
    discard: snapshot.can({ type: 'discard', abandonPaidJob: false }),
  }
}

function progressOf(state: TryOnState, { record, upload, now }: TryOnContext): Progress | null {
  if (state === 'preparing' && upload !== null) {
    const value = upload.total === 0 ? 0 : upload.sent / upload.total
    return { phase: 'upload', value, exact: true, bytes: upload }
  }
  if ((state !== 'processing' && state !== 'preview') || !record?.job) return null
  const elapsed = Math.max(0, now - record.job.acceptedAt) / 1000
  // nine tenths when the estimate is up, and never quite the whole
  const value = 1 - 10 ** (-elapsed / Math.max(1, record.job.etaSeconds))
  return { phase: 'generation', value, exact: false, bytes: null }
}

function problemOf(state: TryOnState, { record, problem }: TryOnContext): Problem | null {
  const known = problem ?? record?.problem ?? null
  if (known !== null) return known
  if (state === 'outcomeUnknown') return { kind: 'interrupted' }
  return state === 'stalled' ? { kind: 'deadline' } : null
}

const merchantText = (problem: Problem | null) =>
  problem !== null && 'message' in problem ? (problem.message ?? null) : null

const shown = (job: JobSuccess): TryOnResult => ({
  ...job,
  imageUrl: (job.storageStatus === 'READY' && job.permanentUrl) || job.imageUrl,
})
