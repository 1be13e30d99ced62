import type { TabMessage } from '../pages/tabs.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import type { Ask } from './asks.ts'
import type { CarryOut, Said } from './carry-out.ts'
import { passedCall } from './intents.ts'
import type { Sitting } from './sitting.ts'

interface ServingParts extends Pick<CarryOut, 'carryOut' | 'isMeant' | 'notAllowed' | 'settled'> {
  sitting: Pick<Sitting, 'seat' | 'isCurrent'>
  name: () => string
  /** The ID of the job that is shown. */
  jobId: () => string | null
  /** When what is being said was said, and by whom. */
  sayNow: () => Said
  post: (message: TabMessage) => void
}

/** How a page that runs the flow serves the others, whose shoppers' intents are passed on to it. */
export function createServing(parts: ServingParts): (ask: Ask) => Promise<void> {
  const { sitting, name, jobId, sayNow, post, carryOut, isMeant, notAllowed, settled } = parts
  const served = new Set<string>()
  /** What other pages have said is begun in the order in which it came, however long each look takes. */
  let lastServed: Promise<unknown> = Promise.resolve()

  /** Refused when it is repeated, or when its shopper saw another attempt. */
  return async ({ id, call: passed, seenAttempt }) => {
    const own = sitting.seat()
    const runner = own?.runner
    // another page may be the one that is asked
    if (!own || !runner || served.has(id) || !own.isProven()) return
    served.add(id)
    // a page that stood still may hear of it once another one has carried it out
    const isStill = lastServed.then(own.isStill)
    lastServed = isStill
    if (!(await isStill)) return void served.delete(id)
    post({ type: 'taken', name: name(), id })
    const call = passedCall(passed)
    const said = sayNow()
    const carriedOut = async () => {
      await settled(own, runner)
      if (!isMeant(call, seenAttempt)) throw notAllowed(call)
      await carryOut(own, runner, { call, said, seen: seenAttempt, isPassed: true })
      return null
    }
    const problem = await carriedOut().catch((error: unknown) =>
      error instanceof TryOnError ? error.problem : notAllowed(call).problem,
    )
    // who runs the flow next carries it out
    if (!sitting.isCurrent(own) || !(await own.isStill())) return void served.delete(id)
    post({ type: 'answer', name: name(), id, problem, jobId: jobId() })
  }
}
