import { tryOnView } from '../../machines/try-on.view.ts'
import { digitsOf } from '../contract/forms.ts'
import type { Seat } from '../pages/seat.ts'
import type { TabMessage } from '../pages/tabs.ts'
import { createValue, type Value } from '../platform/value.ts'
import type { Attempts } from '../records/attempts.ts'
import type { Shopper } from '../records/epochs.ts'
import { restoringView } from '../rules/first-views.ts'
import type { TryOnView } from '../rules/view.ts'
import type { Teller } from '../telling.ts'
import { preparingOver } from './hand.ts'
import { unstoredIn } from './keeping.ts'
import type { Runner } from './runner.ts'
import type { Sitting } from './sitting.ts'
import type { Product } from './try-on.actors.ts'

/** What a try-on shows: here, to the other pages that are at it, and to whoever listens to the room. */
export interface Display {
  shown: Value<TryOnView>
  /** Shows here, and to the other pages, where the machine stands, or that a consent is being made ready for it. */
  show(seat: Seat<Runner>, runner: Runner): void
  /** Tells the other pages what this one shows. */
  tellView(): void
  /** Shows the other pages what this one shows, unless it may not be the one any more that runs the flow. */
  showOthers(seat: Seat<Runner>): void
  /** Says where it stands, for whoever listens to the room. */
  stand(): void
}

interface DisplayParts {
  product: Product
  attempts: Pick<Attempts, 'keepsOthersOut'>
  name: () => string
  post: (message: TabMessage) => void
  telling: Pick<Teller, 'stand'>
  shopper: () => Shopper
  sitting: () => Sitting
  /** What runs the machine here, if anything does. */
  runner: () => Runner | null
  /** Whether a consent is being made ready. */
  isPreparing: () => boolean
  /** That attempt is about to be shown. */
  sees: (attempt: string | undefined) => void
  onShown: (runner: Runner) => void
}

export function createDisplay(parts: DisplayParts): Display {
  const { name, post, sitting, isPreparing } = parts
  const value = createValue<TryOnView>(restoringView)
  const shown: typeof value = {
    ...value,
    set(view) {
      parts.sees(view.attempt?.id)
      return value.set(view)
    },
  }

  const tellView = () => post({ type: 'view', name: name(), place: sitting().place(), view: shown.get() })

  function showOthers(seat: Seat<Runner>): void {
    const tellThem = () => {
      tellView()
      const record = seat.runner && unstoredIn(seat.runner)
      // a page that lives on when this one has gone is to have it, too
      if (record) post({ type: 'lateAnswer', name: name(), record, durable: false })
    }
    if (seat.isFresh()) tellThem()
    else void seat.isStill().then((is) => is && tellThem())
  }

  function stand(): void {
    const { productId, variantId } = parts.product
    parts.telling.stand({
      view: shown.get(),
      record: parts.runner()?.getSnapshot().context.record ?? null,
      product: { productId: digitsOf(productId), variantId: digitsOf(variantId) },
      by: parts.shopper(),
      isSeen: shown.isWatched() && globalThis.document?.visibilityState !== 'hidden',
    })
  }

  return {
    shown,
    tellView,
    showOthers,
    stand,
    show(seat, runner) {
      const snapshot = runner.getSnapshot()
      const view = tryOnView(snapshot)
      const isRead = view.state !== 'restoring'
      // where it stands by now others may not read it, nor know of it
      const stands = isRead && !parts.attempts.keepsOthersOut() ? { ...view, exclusive: false } : view
      // a page that takes over goes on showing what it has shown until storage is read
      const isNews = isRead || snapshot.context.record !== null || !shown.get().attempt
      if (!sitting().isCurrent(seat) || !isNews) return
      shown.set(isPreparing() ? preparingOver(stands) : stands)
      showOthers(seat)
      stand()
      parts.onShown(runner)
    },
  }
}
