import { afterEach, expect, inject, it } from 'vitest'
import { createFittingRoom, type FittingRoom } from 'fitting-room'
import readme from '../../README.md?raw'
import photoUrl from '../../examples/sample/person.png'

let room: FittingRoom | undefined
afterEach(async () => {
  await room?.reset()
  room?.close()
})

it('the README’s lines are a working screen', async () => {
  const lines = /```ts\nimport [^\n]+\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
  const fileInput = document.createElement('input')
  fileInput.type = 'file'
  const status = document.createElement('p')
  const picture = document.createElement('img')
  const settings = { baseUrl: inject('baseUrl'), apiKey: 'sandbox-key' }
  const create: typeof createFittingRoom = (options) => (room = createFittingRoom(options))
  // oxlint-disable-next-line typescript/no-implied-eval -- the README's own text is what is tested
  new Function('createFittingRoom', 'settings', 'fileInput', 'status', 'picture', lines)(
    create,
    settings,
    fileInput,
    status,
    picture,
  )
  await expect.poll(() => status.textContent).toBe('idle')
  const transfer = new DataTransfer()
  transfer.items.add(new File([await (await fetch(photoUrl)).blob()], 'me.png'))
  fileInput.files = transfer.files
  fileInput.dispatchEvent(new Event('change'))
  await expect.poll(() => status.textContent).toBe('final')
  await picture.decode()
  expect(picture.naturalWidth).toBe(512)
})
