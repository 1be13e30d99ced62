import type { FittingRoom } from 'fitting-room'
import { recall, remember } from './remembered.ts'

const key = 'measure'

/** What a tag manager reads. */
const queue = () => ((globalThis as { dataLayer?: object[] }).dataLayer ??= [])

/**
 * Tells what becomes of try-ons while the shopper has nothing against it, in whichever tab that was said; what happened
 * before is told then, too. Returns what takes the shopper's word back.
 */
export function measuring(room: FittingRoom, box: HTMLInputElement): () => void {
  let heard: { unsubscribe(): void } | undefined
  const follow = (isOn: boolean) => {
    box.checked = isOn
    heard?.unsubscribe()
    heard = isOn
      ? room.on(({ type, key: id, productId, sinceMs }) =>
          queue().push({ event: 'try_on', type, id, productId, sinceMs }),
        )
      : undefined
  }
  const say = (isOn: boolean) => {
    remember(key, isOn ? 'yes' : 'no')
    follow(isOn)
  }
  box.onchange = () => say(box.checked)
  addEventListener('storage', ({ key: changed, newValue }) => changed === key && follow(newValue === 'yes'))
  follow(recall(key) === 'yes')
  return () => say(false)
}
