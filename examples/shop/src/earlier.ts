import { isTryOnError, type FittingRoom, type HistoryEntry, type TryOnView } from 'fitting-room'
import type { Product } from './catalog.ts'
import { button, h } from './dom.ts'
import { say, words } from './language.ts'
import type { Page } from './page.ts'

/** What may still become a picture once somebody looks at it again. */
const unfinished = ['processing', 'preview', 'stalled']

/** What the shopper has tried on so far, newest first; it follows what happens in other tabs, too. */
export function earlier(room: FittingRoom, products: readonly Product[]): Page {
  const list = h('ul', { className: 'earlier' })
  const element = h('section', { hidden: true }, h('h2', {}, say().earlier), list)
  /** What was to be forgotten, and may be paid for. */
  const warned = new Set<string>()
  /** What goes on because somebody has said so here. */
  const followed = new Map<string, { unsubscribe(): void }>()

  async function forget(entry: HistoryEntry): Promise<void> {
    const { attemptId } = entry
    try {
      await entry.open().discard({ abandonPaidJob: warned.has(attemptId) })
    } catch (error) {
      // what could not be forgotten stands where it stood
      if (!isTryOnError(error) || error.kind !== 'paidJob') return
      warned.add(attemptId)
      show(room.history.get())
    }
  }

  function goOn(entry: HistoryEntry): void {
    const tryOn = entry.open()
    let isAsked = false
    // it may be read from storage first, or looked at once
    const resume = ({ can }: TryOnView) => {
      if (isAsked || !can.resume) return
      isAsked = true
      void tryOn.resume()
    }
    followed.get(entry.attemptId)?.unsubscribe()
    // the list says what has come of it
    followed.set(entry.attemptId, tryOn.subscribe(resume))
    resume(tryOn.get())
  }

  /** In place of a picture whose address is dead. */
  async function showKept(image: HTMLImageElement, entry: HistoryEntry, product: Product): Promise<void> {
    image.onerror = null
    const kept = await entry
      .open()
      .picture()
      .catch(() => null)
    const address = kept && URL.createObjectURL(kept)
    image.onload = () => address && URL.revokeObjectURL(address)
    image.src = address ?? product.image
  }

  const item = (entry: HistoryEntry) => {
    const product = products.find(({ id }) => entry.productId === id)
    if (!product) return null
    const picture = entry.result ?? entry.preview
    const image = h('img', { src: picture?.imageUrl ?? product.image, alt: '', loading: 'lazy' })
    if (picture) image.onerror = () => showKept(image, entry, product)
    // of what was left there is its picture to look at, the other goes on in its size
    const variant = product.variants.find(({ id }) => entry.variantId === id)
    const href = entry.archived ? `#/try-ons/${entry.attemptId}` : `#/products/${product.id}/${variant?.id}`
    const labelled = (text: string, act: () => unknown, name: string) => {
      const made = button(text, act, 'quiet')
      made.setAttribute('aria-label', `${text}: ${product.title}`)
      made.dataset['focus'] = `${entry.attemptId} ${name}`
      return made
    }
    const link = h('a', { href }, image, h('strong', {}, product.title), h('span', {}, words().title(entry)))
    link.dataset['focus'] = `${entry.attemptId} link`
    const isLeft = entry.archived && entry.jobId !== null && unfinished.includes(entry.state)
    return h(
      'li',
      {},
      link,
      warned.has(entry.attemptId) && h('p', { className: 'note' }, words().problem({ kind: 'paidJob' })),
      isLeft && labelled(words().intent('resume'), () => goOn(entry), 'go on'),
      labelled(words().intent('discard'), () => forget(entry), 'forget'),
    )
  }

  const show = (entries: readonly HistoryEntry[]) => {
    const items = entries.map(item).filter((each) => each !== null)
    const focused = list.querySelector<HTMLElement>(':focus')?.dataset['focus']
    element.hidden = items.length === 0
    list.replaceChildren(...items)
    // what is drawn anew is still where the shopper is
    if (focused) list.querySelector<HTMLElement>(`[data-focus="${focused}"]`)?.focus()
  }

  const subscription = room.history.subscribe(show)
  show(room.history.get())
  return {
    element,
    leave() {
      subscription.unsubscribe()
      for (const each of followed.values()) each.unsubscribe()
    },
  }
}
