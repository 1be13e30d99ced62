import type { TryOn } from 'fitting-room'
import { h } from './dom.ts'

/** Whether this browser hands pictures to other programs. */
export const canShare = (): boolean =>
  navigator.canShare?.({ files: [new File([], 'try-on.jpeg', { type: 'image/jpeg' })] }) ?? false

/** Another origin's picture is only opened by a link, so its bytes are taken. */
export async function save(tryOn: TryOn): Promise<void> {
  const picture = await fileOf(tryOn)
  const address = URL.createObjectURL(picture)
  h('a', { href: address, download: picture.name }).click()
  URL.revokeObjectURL(address)
}

export async function share(tryOn: TryOn, title: string): Promise<void> {
  const files = [await fileOf(tryOn)]
  // who thinks better of it has done nothing wrong
  await navigator.share({ files, title }).catch(() => undefined)
}

async function fileOf(tryOn: TryOn): Promise<File> {
  const picture = await tryOn.picture()
  return new File([picture], `try-on.${picture.type.split('/')[1]}`, { type: picture.type })
}
