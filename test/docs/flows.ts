import { createSandbox } from '@fitting-room/service/sandbox'
import { createFittingRoom } from 'fitting-room'
import { manualClock } from 'fitting-room/testing'

/** What the guide to testing shows of flows. */
export async function flows(photo: Blob) {
  const clock = manualClock()
  const sandbox = createSandbox({ clock })
  const { fetch, putPhoto } = sandbox
  const flow = createFittingRoom({ baseUrl: sandbox.baseUrl, apiKey: 'sandbox-key', clock, fetch, putPhoto })
  const tried = flow.tryOn({ productId: '1001', variantId: '2001', funnelIds: [11] })
  tried.subscribe(() => {})
  await tried.start(photo)
  while (tried.get().group === 'busy') {
    clock.advanceToNext()
    await new Promise((resolve) => setTimeout(resolve))
  }
  return { sandbox, flow, tried }
}
