import type { FittingRoom } from 'fitting-room'
import { recall, remember } from './remembered.ts'

const key = 'measure'

/** What a tag manager reads. */
const queue = () => ((globalThis as { dataLayer?: object[] }).dataLayer ??= [])

/** Tells what becomes of try-ons while the shopper has nothing against it; what happens before is told then, too. */
export function measuring(room: FittingRoom, box: HTMLInputElement): void {
  let heard: { unsubscribe(): void } | undefined
  const follow = () => {
    heard?.unsubscribe()
    heard = undefined
    if (!box.checked) return
    heard = room.on(({ type, key: id, productId, sinceMs }) =>
      queue().push({ event: 'try_on', type, id, productId, sinceMs }),
    )
  }
  box.checked = recall(key) === 'yes'
  box.onchange = () => {
    remember(key, box.checked ? 'yes' : 'no')
    follow()
  }
  follow()
}
