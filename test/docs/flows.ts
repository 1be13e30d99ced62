import { createSandbox } from '@fitting-room/service/sandbox'
import { createFittingRoom } from 'fitting-room'
import { memoryStorage } from 'fitting-room/storage/memory'
import { manualClock } from 'fitting-room/testing'

/** What the guide to testing shows of flows. */
export async function flows(photo: Blob) {
  const clock = manualClock()
  const sandbox = createSandbox({ clock })
  const { fetch, putPhoto } = sandbox
  const own = { clock, fetch, putPhoto, storage: memoryStorage() }
  const flow = createFittingRoom({ baseUrl: sandbox.baseUrl, apiKey: 'sandbox-key', ...own })
  const tried = flow.tryOn({ productId: '1001', variantId: '2001', funnelIds: [11] })
  tried.subscribe(() => {})
  await tried.start(photo)
  while (tried.get().group === 'busy') {
    clock.advance(50)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return { sandbox, flow, tried }
}
