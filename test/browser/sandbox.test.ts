import { createSandbox } from '@fitting-room/service/sandbox'
import { expect, it } from 'vitest'
import { createFittingRoom } from 'fitting-room'
import { memoryStorage } from 'fitting-room/storage/memory'
import photoUrl from '../../examples/sample/person.png'
import { flows } from '../docs/flows.ts'

const address = new URL(photoUrl, location.href).href
const pictures = { preview: address, final: address }

it.concurrent.each([
  ['a drawing', {}, 768],
  ['the picture that was named', { pictures }, 512],
])(
  'a page is its own service: a photo comes to %s, which the page shows, with one submission',
  async (_, options, width) => {
    const sandbox = createSandbox(options)
    const { baseUrl, fetch: send, putPhoto } = sandbox
    const storage = memoryStorage()
    const room = createFittingRoom({ baseUrl, fetch: send, putPhoto, apiKey: 'sandbox-key', storage })
    const tryOn = room.tryOn({ productId: '1001', variantId: '2001', funnelIds: [11] })
    await tryOn.start(await (await fetch(photoUrl)).blob())
    const { imageUrl } = await tryOn.result()
    const { preview } = tryOn.get()
    // a slow machine looks once, and late
    for (const url of preview ? [imageUrl, preview.imageUrl] : [imageUrl]) {
      const image = new Image()
      image.src = url
      await image.decode()
      expect(image.naturalWidth).toBe(width)
    }
    expect(sandbox.ledger.requests.filter((request) => request === 'POST /generations')).toHaveLength(1)
    room.close()
    await sandbox.close()
  },
)

it('the flow of the guide to testing, whose clock a test moves, comes to its picture in a page, too', async () => {
  const { sandbox, flow, tried } = await flows(await (await fetch(photoUrl)).blob())
  expect(tried.get().state).toBe('final')
  expect(sandbox.ledger.requests.filter((request) => request === 'POST /generations')).toHaveLength(1)
  flow.close()
  await sandbox.close()
})
