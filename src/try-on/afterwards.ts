import type { TryOnEvent } from '../../machines/try-on.types.ts'
import { quiet } from '../platform/quiet.ts'
import type { Attempts } from '../records/attempts.ts'
import type { Shopper } from '../records/epochs.ts'
import type { Problem } from '../rules/problem.ts'
import type { AttemptView, TryOnView } from '../rules/view.ts'
import type { Pictured, Pictures } from './pictures.ts'
import type { TryOn } from './try-on.types.ts'

export interface AfterwardsParts {
  /** The room's shopper of now. */
  shopper: () => Shopper
  attempts: Attempts
  /** Settles once what is shown is what storage holds. */
  ready: () => Promise<unknown>
  view: () => TryOnView
  /** What somebody is told who has asked for a former shopper. */
  gone: () => Error
  tell: (event: TryOnEvent) => void
  /** Shows a problem beside what is shown. */
  refuse: (problem: Problem) => void
  /** The ticket of its job; rejects with kind `ticket` where there is none. */
  ticketOf: (attempt: AttemptView | null) => Promise<string>
  /** What knows of pictures; rejects where the code for it cannot be loaded. */
  pictures: () => Promise<Pictures>
}

/** What is asked for once there is a job: its ticket, and its picture. */
export function createAfterwards(parts: AfterwardsParts): Pick<TryOn, 'ticket' | 'picture' | 'pictureFailed'> {
  const { attempts, ready, view, gone, tell, refuse, ticketOf, pictures } = parts

  /** What storage holds, for the shopper who asks, and nobody after. */
  function asked<T>(work: (seen: TryOnView, by: Shopper) => Promise<T>): Promise<T> {
    const by = parts.shopper()
    const check = () => {
      if (by.aborted) throw gone()
    }
    const done = async () => {
      await ready()
      check()
      return work(view(), by)
    }
    return quiet(done().finally(check))
  }

  const pictured = (seen: TryOnView, by: Shopper): Pictured => ({
    seen,
    view,
    by,
    attempts,
    learn: (written) => !by.aborted && tell({ type: 'lateAnswer', written }),
    refuse: (problem) => !by.aborted && refuse(problem),
  })

  return {
    ticket: () => asked(({ attempt }) => ticketOf(attempt)),
    picture: () => asked(async (seen, by) => (await pictures()).picture(pictured(seen, by))),
    pictureFailed: (address) => asked(async (seen, by) => (await pictures()).failed(pictured(seen, by), address)),
  }
}
