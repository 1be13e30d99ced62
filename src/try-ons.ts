import { storedView } from '../machines/try-on.stored.ts'
import type { TryOnInput } from '../machines/try-on.types.ts'
import { isExclusive } from './platform/exclusive.ts'
import type { FlowStorage } from './ports.ts'
import type { RecordCell } from './records/archive.ts'
import { createAttempts, type AttemptsParts } from './records/attempts.ts'
import type { Catalog } from './records/catalog.ts'
import type { Keys } from './records/keys.ts'
import { nameOf } from './records/names.ts'
import type { AttemptRecord } from './rules/record.ts'
import type { AttemptView, TryOnView } from './rules/view.ts'
import type { Product } from './try-on/try-on.actors.ts'
import { createTryOn, type RunningParts, type RunningTryOn } from './try-on/try-on.ts'
import type { TryOn } from './try-on/try-on.types.ts'

interface TryOnsParts extends Omit<RunningParts, 'attempts' | 'input' | 'name' | 'opener' | 'product' | 'ticketOf'> {
  catalog: Catalog
  storage: FlowStorage
  keys: () => Keys
  recordAt: (key: string) => RecordCell
  archiveOf: (attemptId: string) => RecordCell
  retentionMs: number
  /** Whether storage keeps anything for other pages. */
  durable: boolean
  mayClaimInMemory: AttemptsParts['mayClaimInMemory']
  input: Omit<TryOnInput, 'archived' | 'exclusive'>
  ticketOf: (product: Product, attempt: AttemptView | null) => Promise<string>
}

/** The try-ons of a room: each product variant's is there once, and so is each one that was opened from the archive. */
interface TryOns {
  each(tell: (tryOn: RunningTryOn) => void): void
  /** The one of that product variant. */
  of(product: Product): TryOn
  /** The same, whose next consent is for these funnels, whatever an earlier record said. */
  asked(product: Product): TryOn
  /** What follows an attempt of the archive. Of an `opener` who has gone it is over, and shows nothing. */
  archived(key: string, record: AttemptRecord, opener?: RunningParts['opener']): TryOn
  /** An attempt as the page that is at it shows it, where that is this one. */
  viewOf(record: AttemptRecord, archived: boolean): TryOnView
  /** The shopper has gone: where the room `isOpen`, whoever looks is shown what there is now. */
  forget(isOpen: boolean): void
}

export function createTryOns(parts: TryOnsParts): TryOns {
  const { catalog, storage, keys, recordAt, ownership } = parts
  const running = new Map<string, RunningTryOn>()
  const products = new Map<string, Product>()
  const inputOf = (archived: boolean): TryOnInput => ({ ...parts.input, exclusive: isExclusive(storage), archived })

  function run(
    name: string,
    product: Product,
    candidates: () => readonly RecordCell[],
    archived: boolean,
    opener = catalog.shopper(),
  ): TryOn {
    const same = opener.aborted ? undefined : running.get(name)
    if (same) return same.tryOn
    let first: string | undefined
    const attempts = createAttempts({
      ...parts,
      candidates,
      isDurable: parts.durable,
      isExclusive: (key) => isExclusive(storage, key),
      isOpenToAll: !ownership.exclusive,
    })
    const made = createTryOn({
      ...parts,
      attempts,
      product,
      opener,
      name: () => (first ??= candidates()[0]?.key ?? ''),
      input: inputOf(archived),
      ticketOf: (attempt) => parts.ticketOf(product, attempt),
      open() {
        running.set(name, made)
        return parts.open()
      },
    })
    if (opener.aborted) made.clear()
    else running.set(name, made)
    return made.tryOn
  }

  /** The one object that stands for this product variant. */
  function known(product: Product): Product {
    const name = nameOf(product)
    const same = products.get(name) ?? { ...product }
    products.set(name, same)
    return same
  }

  function of(product: Product): TryOn {
    const { productId, variantId } = product
    return run(nameOf(product), known(product), () => keys().tryOn(productId, variantId).map(recordAt), false)
  }

  return {
    each: (tell) => running.forEach(tell),
    of,
    asked(product) {
      known(product).funnelIds = product.funnelIds
      return of(product)
    },
    archived: (key, record, opener) => run(key, productOf(record), () => [recordAt(key)], true, opener),
    viewOf(record, archived) {
      for (const { tryOn, isLive } of running.values())
        if (isLive() && tryOn.get().attempt?.id === record.attemptId) return tryOn.get()
      return storedView(record, inputOf(true), !archived)
    },
    forget(isOpen) {
      running.forEach((each, name) => {
        if (each.isArchived) running.delete(name)
        // a room that was closed meanwhile stays closed
        if (isOpen) each.restart()
        else each.clear()
      })
    },
  }
}

/** A record names more, which a reset() must not leave behind. */
export const productOf = ({ productId, variantId, funnelIds }: Product): Product => ({
  productId,
  variantId,
  funnelIds,
})
