import type { TryOnView } from '../../src/rules/view.ts'

/** What goes on once the service, the network or an operator lets it. */
const waits = new Set<TryOnView['state']>(['stalled', 'unauthorized'])

/** Nothing was sent: the database did not take the claim, or no address could be read any more. */
export const isUnsent = ({ state, problem }: TryOnView) =>
  state === 'rejected' &&
  (problem?.kind === 'storage' || (problem?.kind === 'refused' && problem.situation === 'moved'))
export const isWaiting = (view: TryOnView) => (waits.has(view.state) && view.can.resume) || isUnsent(view)
/** Another process may have it yet, so that nothing is permitted here: what is shown is no end. */
const isElsewhere = ({ group, can }: TryOnView) => group === 'stopped' && !Object.values(can).some(Boolean)
export const isEnded = (view: TryOnView) =>
  ['done', 'asks', 'stopped'].includes(view.group) && !isWaiting(view) && !isElsewhere(view)

/** Of a submission that is out the answer is waited for. */
export const isOut = ({ state, waitingUntil }: TryOnView) => state === 'submitting' && waitingUntil === null

/** Whether there is something to follow; throws where storage could not be read, since nobody knows then. */
export function isThere({ state, problem }: TryOnView): boolean {
  if (state !== 'idle') return true
  if (problem === null || problem.kind === 'recordUnreadable' || problem.kind === 'consentExpired') return false
  throw new Error(`what is kept of a try-on cannot be read: ${problem.kind}`)
}

/** Whether a submission may be out of which nothing can be read, or is there any more; `told` is where it was seen last. */
export const mayBeOut = (told: TryOnView['state'], { problem }: TryOnView) =>
  problem?.kind === 'recordUnreadable' || (problem === null && (told === 'submitting' || told === 'outcomeUnknown'))
