import type { Seat } from '../pages/seat.ts'
import type { TabMessage } from '../pages/tabs.ts'
import { deferred } from '../platform/deferred.ts'
import { newId } from '../platform/new-id.ts'
import type { SteadyClock } from '../ports.ts'
import type { Attempts } from '../records/attempts.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import type { PassedAsk } from './asks.ts'
import type { CarryOut } from './carry-out.ts'
import { isConsent, passedCall } from './intents.ts'
import type { Runner } from './runner.ts'
import type { Said } from './said.ts'
import type { Sitting } from './sitting.ts'

/** How long after it has said that it would carry something out a page may begin that, in ms: who asked waits for longer. */
const turnMs = 30_000

/** How a page that runs the flow serves the others, whose shoppers' intents are passed on to it. */
export interface Serving {
  /** Another page has an intent to pass on. */
  open(id: string): void
  /** Carries it out. Refused when its shopper saw another attempt. */
  serve(ask: PassedAsk): Promise<void>
}

interface ServingParts extends Pick<CarryOut, 'carryOut' | 'isDue' | 'notAllowed' | 'settled'> {
  clock: SteadyClock
  attempts: Pick<Attempts, 'share'>
  sitting: Pick<Sitting, 'seat' | 'place' | 'isCurrent'>
  name: () => string
  /** The ID of the job that is shown. */
  jobId: () => string | null
  /** When what is being said was said, and by whom. */
  sayNow: () => Said
  post: (message: TabMessage) => void
}

export function createServing(parts: ServingParts): Serving {
  const { clock, attempts, sitting, name, jobId, sayNow, post, carryOut, isDue, notAllowed, settled } = parts
  const served = new Set<string>()
  /** The consents that are being carried out, by their attempts, until each is in hand or over. */
  const coming = new Map<string | undefined, Promise<void>>()
  /** When each turn was given, by this page's own time. */
  const turns = new Map<string, number>()
  /** What its seat is called, by which who asks knows who has heard of what. */
  const names = new WeakMap<Seat<Runner>, string>()
  /** What other pages have said is begun in the order in which it came, however long each look takes. */
  let lastServed: Promise<unknown> = Promise.resolve()

  /** This page's seat, if it runs the flow: another page may be the one that is asked. */
  function ownSeat(): Seat<Runner> | null {
    const seat = sitting.seat()
    return seat?.runner && seat.isProven() ? seat : null
  }

  function open(id: string): void {
    const seat = ownSeat()
    if (served.has(id) || !seat) return
    const [turn, now, by] = [newId(), clock.elapsed(), names.get(seat) ?? newId()]
    names.set(seat, by)
    for (const [given, at] of turns) if (now - at > turnMs) turns.delete(given)
    turns.set(turn, now)
    post({ type: 'come', name: name(), place: sitting.place(), id, turn, by })
  }

  async function serve({ id, turn, call: passed, seenAttempt: seen, ownAttempt }: PassedAsk): Promise<void> {
    const seat = ownSeat()
    const runner = seat?.runner
    if (!seat || !runner || served.has(id)) return
    // who stood still meanwhile asks once more whether anybody waits for it
    if (clock.elapsed() - (turns.get(turn) ?? -Infinity) > turnMs) return open(id)
    served.add(id)
    // a page that stood still may hear of it once another one has carried it out
    const isStill = lastServed.then(seat.isStill)
    lastServed = isStill
    if (!(await isStill)) return void served.delete(id)
    const call = passedCall(passed)
    const inHand = deferred()
    if (isConsent(call)) {
      attempts.share(call.attemptId)
      coming.set(call.attemptId, inHand.promise)
    }
    const said = sayNow()
    const carriedOut = async () => {
      await settled(seat, runner)
      // what is to be left has to be there
      await coming.get(ownAttempt)
      if (await isDue(call, seen, ownAttempt))
        await carryOut(seat, runner, { call, said, seen, begun: ownAttempt, isPassed: true, isHeard: inHand.resolve })
      return null
    }
    const problem = await carriedOut().catch((error: unknown) =>
      error instanceof TryOnError ? error.problem : notAllowed(call).problem,
    )
    inHand.resolve()
    if (isConsent(call)) coming.delete(call.attemptId)
    // who runs the flow next carries it out
    if (!sitting.isCurrent(seat) || !(await seat.isStill())) return void served.delete(id)
    post({ type: 'answer', name: name(), id, problem, jobId: jobId() })
  }

  return { open, serve }
}
