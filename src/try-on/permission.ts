import type { Seat } from '../pages/seat.ts'
import type { SteadyClock } from '../ports.ts'
import type { Problem } from '../rules/problem.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import type { TryOnView } from '../rules/view.ts'
import { isConsent, isLeaving, permissionOf, type Call } from './intents.ts'
import type { Runner } from './runner.ts'
import type { Said, Word } from './said.ts'

/** How old a word for a submission may be before it is begun, in ms. */
const staleMs = 60_000

export interface PermissionParts {
  clock: SteadyClock
  /** What this page shows. */
  view: () => TryOnView
  /** Whether this page still has that part in the try-on. */
  isCurrent: (seat: Seat<Runner>) => boolean
}

/** Whether what was said may be done where the try-on stands, and what it is refused with. */
export function createPermission({ clock, view, isCurrent }: PermissionParts) {
  const refusal = (problem: Problem) => new TryOnError(problem, view().attempt?.jobId ?? null)
  const notAllowed = ({ intent }: Call) => refusal({ kind: 'notAllowed', intent, state: view().state })
  const closed = () => refusal({ kind: 'stopped', reason: 'closed' })
  const gone = () => refusal({ kind: 'stopped', reason: 'startedOver' })
  /** Which attempt this page shows. */
  const seenAttempt = () => view().attempt?.id ?? null
  /** Whether that is the one that a consent has begun. */
  const isBegun = (call: Call) => isConsent(call) && call.attemptId === seenAttempt()

  /** A page that slept must not spend money on what was said before, nor do what a former shopper has said. */
  function checkSaid(call: Call, said: Said): void {
    if (said.by.aborted) throw gone()
    if (!isLeaving(call) && clock.elapsed() - said.at > staleMs) throw refusal({ kind: 'consentExpired' })
  }

  /** A refusal is shown where the try-on stands, and nothing is lost. */
  function refuse(seat: Seat<Runner>, runner: Runner, error: unknown): never {
    // what was left is no problem of what stands
    const isShown = error instanceof TryOnError && error.kind !== 'stopped' && isCurrent(seat)
    if (isShown) runner.send({ type: 'refused', problem: error.problem })
    throw error
  }

  return {
    refusal,
    notAllowed,
    closed,
    gone,
    seenAttempt,
    isBegun,
    /** Whether an intent is for what there is: for the attempt that its shopper saw, or the one that it has begun. */
    isMeant: (call: Call, seen: string | null) => seenAttempt() === seen || isBegun(call),

    /** Whether what stands was begun after that was said, as far as the clocks of two pages tell. */
    isBegunSince({ at }: Said): boolean {
      const [now, { attempt }] = [clock.now(), view()]
      return attempt !== null && attempt.startedAt > now - (clock.elapsed() - at) && attempt.startedAt <= now
    },

    /** Returns the attempt that the intent is permitted for. */
    check(runner: Runner, call: Call): string | undefined {
      const snapshot = runner.getSnapshot()
      if (snapshot.status === 'stopped') throw closed()
      if (snapshot.status !== 'active') throw refusal({ kind: 'internal', sent: false })
      if (snapshot.can(permissionOf(call))) return attemptOf(runner)
      const couldAbandon = call.intent === 'discard' && snapshot.can({ type: 'discard', abandonPaidJob: true })
      throw couldAbandon ? refusal({ kind: 'paidJob' }) : notAllowed(call)
    },

    checkSaid,
    /** What cannot be read may be there. */
    checkRead(): void {
      const { problem } = view()
      if (problem?.kind === 'storageUnreadable') throw refusal(problem)
    },

    refuse,
    /** Checks what was said; what a former shopper has said is nobody's to read. */
    heed(seat: Seat<Runner>, runner: Runner, { call, said }: Word, checkMore = () => {}): void {
      try {
        checkSaid(call, said)
        checkMore()
      } catch (error) {
        refuse(seat, runner, error)
      }
    },

    /** A page that froze may have been overtaken: nothing is begun where that cannot be ruled out. */
    async confirm(seat: Seat<Runner>, runner: Runner): Promise<void> {
      if (await seat.confirm()) return
      if (!isCurrent(seat)) throw closed()
      refuse(seat, runner, refusal({ kind: 'storage' }))
    },
  }
}

export const attemptOf = (runner: Runner): string | undefined => runner.getSnapshot().context.record?.attemptId
