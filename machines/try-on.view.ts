import type { SnapshotFrom } from 'xstate'
import type { JobSuccess } from '../src/contract/resources.ts'
import type { Problem } from '../src/rules/problem.ts'
import type { AttemptRecord } from '../src/rules/record.ts'
import { restoringView } from '../src/rules/first-views.ts'
import type { AttemptView, Progress, Trouble, TryOnResult, TryOnView } from '../src/rules/view.ts'
import { tryOnStates, type TryOnState } from '../src/rules/words.ts'
import { probes } from './probes.ts'
import type { tryOnMachine } from './try-on.machine.ts'
import type { TryOnContext } from './try-on.types.ts'

/** The view of a snapshot, and nothing but the snapshot. */
export function tryOnView(snapshot: SnapshotFrom<typeof tryOnMachine>): TryOnView {
  const { context } = snapshot
  // a new consent is not of the attempt that it replaces
  const record = Object(snapshot.value).preparing === 'consenting' ? null : context.record
  const state = viewStateOf(snapshot)
  if (state === 'restoring') return restoringView
  const kept = keptProblem(state, context)
  // that an address is wanted is no problem before one was refused
  const known = context.problem ?? (kept?.kind === 'emailRequired' ? null : kept)
  const shared = {
    funnel: record?.funnel ?? null,
    etaSeconds: record?.job?.etaSeconds ?? null,
    progress: progressOf(state, context),
    preview: null,
    result: null,
    message: merchantText(kept),
    problem: known,
    trouble: shownTrouble(context),
    waitingUntil: waitingUntil(context),
    durable: context.durable,
    metadataKept: record?.photo.metadataKept === true,
    exclusive: context.exclusive,
    can: permitted(snapshot),
  }
  const attempt = attemptOf(record)
  const stopped = { ...shared, group: 'stopped', problem: known ?? unsaid(state, record) } as const
  if (state === 'preparing') return { ...shared, state, group: 'busy', attempt }
  if (state === 'stalled') return { ...stopped, state, attempt }
  if (state === 'idle') return { ...shared, state, group: 'ready', attempt: null }
  if (attempt === null) return restoringView
  const picture = record && resultIn(record)
  switch (state) {
    case 'submitting':
    case 'processing':
      return { ...shared, state, group: 'busy', attempt }
    case 'needsEmail':
      return { ...shared, state, group: 'asks', attempt }
    case 'preview':
      return picture === null
        ? { ...shared, state: 'processing', group: 'busy', attempt }
        : { ...shared, state, group: 'busy', attempt, preview: picture }
    case 'final':
      if (picture === null) return { ...stopped, state: 'protocolError', attempt, problem: incomplete }
      return { ...shared, state, group: 'done', attempt, result: picture, preview: record?.preview ?? null }
    case 'limitReached':
      return { ...stopped, state, attempt, message: shared.message ?? '' }
    default:
      return { ...stopped, state, attempt }
  }
}

/** Of a stored record that lacks what its phase promises. */
const incomplete: Problem = { kind: 'recordUnreadable' }

/** Why a try-on stopped whose record does not say it. */
function unsaid(state: TryOnState, record: AttemptRecord | null): Problem {
  if (state === 'stalled') return { kind: record?.job ? 'deadline' : 'consentExpired' }
  return state === 'outcomeUnknown' ? { kind: 'interrupted' } : incomplete
}

const attemptOf = (record: AttemptRecord | null): AttemptView | null =>
  record && { id: record.attemptId, jobId: record.job?.jobId ?? null, startedAt: record.startedAt }

/** What passes by between two states is shown as `restoring`. */
function viewStateOf(snapshot: SnapshotFrom<typeof tryOnMachine>): TryOnState {
  const [state] = typeof snapshot.value === 'string' ? [snapshot.value] : Object.keys(snapshot.value)
  if (state === 'following') return snapshot.context.record?.phase === 'preview' ? 'preview' : 'processing'
  return tryOnStates.find((known) => known === state) ?? 'restoring'
}

function permitted(snapshot: SnapshotFrom<typeof tryOnMachine>): TryOnView['can'] {
  const permissions = Object.entries(probes).map(([intent, event]) => [intent, snapshot.can(event)])
  return Object.fromEntries(permissions) as TryOnView['can']
}

function progressOf(state: TryOnState, { record, upload, elapsedMs }: TryOnContext): Progress | null {
  if (state === 'preparing' && upload !== null) {
    const value = upload.total === 0 ? 0 : upload.sent / upload.total
    return { phase: 'upload', value, exact: true, bytes: upload }
  }
  if ((state !== 'processing' && state !== 'preview') || !record?.job) return null
  // nine tenths when the estimate is up, and never quite the whole
  const value = 1 - 10 ** (-elapsedMs / 1000 / Math.max(1, record.job.etaSeconds))
  return { phase: 'generation', value, exact: false, bytes: null }
}

/** What the record says of why it stopped; what only holds it up is `trouble`. */
function keptProblem(state: TryOnState, { record }: TryOnContext): Problem | null {
  return state === 'preparing' || state === 'submitting' ? null : (record?.problem ?? null)
}

/** Of several the one that began first. */
function shownTrouble({ waits }: TryOnContext): Trouble | null {
  const troubles = Object.values(waits).map(({ trouble }) => trouble)
  return troubles.sort((one, other) => one.since - other.since)[0] ?? null
}

function waitingUntil({ waits }: TryOnContext): number | null {
  const times = Object.values(waits).flatMap(({ isOut, trouble }) => (isOut ? [] : [trouble.nextTryAt]))
  return times.length === 0 ? null : Math.min(...times)
}

const merchantText = (problem: Problem | null) =>
  problem !== null && 'message' in problem ? (problem.message ?? null) : null

/** What a record has of its picture, as views say it. */
export const resultIn = ({ result }: AttemptRecord): TryOnResult | null => (result ? shown(result) : null)

const shown = (job: JobSuccess): TryOnResult => ({
  ...job,
  imageUrl: (job.storageStatus === 'READY' && job.permanentUrl) || job.imageUrl,
})
