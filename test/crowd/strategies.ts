import type { Clock, Fetch, RoomOptions } from 'fitting-room'
import { createRoom } from 'fitting-room/core'
import { memoryStorage } from 'fitting-room/storage/memory'
import type { VirtualTime } from './time.ts'

/** How a shopper's try-on ended. */
export type End = string

/** Serves one shopper after the other. */
export interface Device {
  /** Resolves with how a try-on with that funnel ended. */
  serve(funnelId: number): Promise<End>
}

interface DeviceParts {
  time: VirtualTime
  clock: Clock
  fetch: Fetch
  /** How many devices it is told that there are. */
  shareOf?: number | undefined
}

/** One way to talk to the service. */
export type Strategy = (parts: DeviceParts) => Device

const baseUrl = 'https://api.test'
const productOf = (funnelId: number) => ({
  productId: '1001',
  variantId: String(2_000 + funnelId),
  funnelIds: [funnelId],
})
const photo = { bytes: new Uint8Array([0xff, 0xd8, 0xff, 0xe0]), type: 'image/jpeg' }
const ends = new Set(['final', 'failed', 'rejected', 'stalled', 'outcomeUnknown', 'protocolError', 'limitReached'])

/** A poller every 2 s that waits as long as a refusal says, and takes a submission that is lost for none. */
export const naive: Strategy = ({ time, fetch }) => {
  async function send(method: string, path: string, body?: object) {
    for (;;) {
      const init = { method, ...(body && { body: JSON.stringify(body) }) }
      const answer = await fetch(baseUrl + path, init).catch(() => null)
      if (answer?.status === 200) return JSON.parse(await answer.text()).data
      await time.wait(answer === null ? 2_000 : 1_000 * Number(answer.headers.get('Retry-After')))
    }
  }
  return {
    async serve(funnelId) {
      await send('GET', `/funnel?funnelIds=${funnelId}`)
      const { imageUrl } = await send('POST', '/uploads', { contentType: 'image/jpeg' })
      const { jobId } = await send('POST', '/generations', { funnelId, ...productOf(funnelId), imageUrl })
      for (;;) {
        const { storageStatus } = await send('GET', `/generations/${jobId}`)
        if (storageStatus === 'READY') return 'final'
        await time.wait(2_000)
      }
    },
  }
}

/** The library, with these options; a shopper is followed until nothing goes on by itself. */
export const room =
  (options: (clock: Clock) => Partial<RoomOptions> = () => ({})): Strategy =>
  ({ time, clock, fetch, shareOf }) => {
    const own = createRoom({
      shareOf,
      baseUrl,
      apiKey: 'key',
      fetch,
      clock,
      photos: false,
      storage: memoryStorage(),
      putPhoto: async () => {
        await time.wait(300)
        return 200
      },
      ...options(clock),
    })
    return {
      async serve(funnelId) {
        await own.reset()
        const tryOn = own.tryOn(productOf(funnelId))
        const ended = new Promise<End>((resolve) => {
          const look = () => {
            const { state } = tryOn.get()
            if (!ends.has(state)) return
            unsubscribe()
            resolve(state)
          }
          const { unsubscribe } = tryOn.subscribe(look)
        })
        await tryOn.start(photo)
        return ended
      },
    }
  }
