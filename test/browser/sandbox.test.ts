import { createSandbox } from '@fitting-room/service/sandbox'
import { expect, it } from 'vitest'
import { createFittingRoom } from 'fitting-room'
import { memoryStorage } from 'fitting-room/storage/memory'
import photoUrl from '../../examples/sample/person.png'

it('a page is its own service: a photo comes to a picture that the page shows, with one submission', async () => {
  const address = new URL(photoUrl, location.href).href
  const sandbox = createSandbox({ pictures: { preview: address, final: address } })
  const { baseUrl, fetch: send, putPhoto } = sandbox
  const storage = memoryStorage()
  const room = createFittingRoom({ baseUrl, fetch: send, putPhoto, apiKey: 'sandbox-key', storage })
  const tryOn = room.tryOn({ productId: '1001', variantId: '2001', funnelIds: [11] })
  await tryOn.start(await (await fetch(photoUrl)).blob())
  const image = new Image()
  image.src = (await tryOn.result()).imageUrl
  await image.decode()
  expect(image.naturalWidth).toBeGreaterThan(0)
  expect(sandbox.ledger.requests.filter((request) => request === 'POST /generations')).toHaveLength(1)
  room.close()
  await sandbox.close()
})
