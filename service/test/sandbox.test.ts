import { createSandbox } from '@fitting-room/service/sandbox'
import { createFittingRoom } from 'fitting-room'
import { memoryStorage } from 'fitting-room/storage/memory'
import { expect, it } from 'vitest'
import { serveFetch } from '../../test/support/serve-fetch.ts'

const pictures = { preview: 'https://shop.test/preview.jpeg', final: 'https://shop.test/final.jpeg' }
const png = new Blob([Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)], { type: 'image/png' })

/** A room of a page whose service lives in the page. */
function roomOf(sandbox: ReturnType<typeof createSandbox>) {
  const { baseUrl, fetch, putPhoto } = sandbox
  const timing = { pollIntervalMs: 50 }
  return createFittingRoom({ baseUrl, fetch, putPhoto, apiKey: 'sandbox-key', storage: memoryStorage(), timing })
}
const tryOnOf = (room: ReturnType<typeof roomOf>, productId: string, variantId: string) =>
  room.tryOn({ productId, variantId, funnelIds: [11] })

it('a room reaches the pictures of the page, with one submission in the ledger', async () => {
  const sandbox = createSandbox({ pictures })
  const room = roomOf(sandbox)
  const tryOn = tryOnOf(room, '1001', '2001')
  const previews: (string | undefined)[] = []
  tryOn.subscribe(({ preview }) => previews.push(preview?.imageUrl))
  await tryOn.start(png)
  const result = await tryOn.result()
  expect(result.imageUrl).toBe(pictures.final)
  expect(previews).toContain(pictures.preview)
  expect(sandbox.ledger.accepted).toBe(1)
  expect(sandbox.ledger.requests.filter((each) => each === 'POST /generations')).toHaveLength(1)
  await sandbox.settle()
  room.close()
  await sandbox.close()
})

it('leaves its pictures to the page, which has them', async () => {
  const page = await serveFetch(async () => new Response('a picture', { headers: { 'Content-Type': 'image/jpeg' } }))
  const sandbox = createSandbox({ pictures: { preview: `${page.url}/preview`, final: `${page.url}/final` } })
  const room = roomOf(sandbox)
  const tryOn = tryOnOf(room, '1001', '2001')
  await tryOn.start(png)
  await tryOn.result()
  expect(await (await tryOn.picture()).text()).toBe('a picture')
  expect(sandbox.ledger.requests.filter((each) => /preview|final/.test(each))).toEqual([])
  room.close()
  await sandbox.close()
  page.close()
})

it.each([
  ['9013', 'rejected', 'refused'],
  ['9014', 'failed', 'jobFailed'],
])('its test variant %s leads to %s', async (variantId, state, kind) => {
  const sandbox = createSandbox()
  const room = roomOf(sandbox)
  const tryOn = tryOnOf(room, '1009', variantId)
  await tryOn.start(png)
  await expect(tryOn.result()).rejects.toMatchObject({ kind })
  expect(tryOn.get().state).toBe(state)
  room.close()
  await sandbox.close()
})

it('its test variant 9012 never ends', async () => {
  let ahead = 0
  const sandbox = createSandbox({ clock: { now: () => Date.now() + ahead } })
  const room = roomOf(sandbox)
  const tryOn = tryOnOf(room, '1009', '9012')
  await tryOn.start(png)
  const jobId = await new Promise<string>((resolve) =>
    tryOn.subscribe(({ attempt }) => attempt?.jobId && resolve(attempt.jobId)),
  )
  await sandbox.settle()
  // as long as a try-on is kept
  ahead = 29 * 86_400_000
  expect(await room.client.getGeneration(jobId)).toMatchObject({ data: { status: 'PROCESSING' } })
  room.close()
  await sandbox.close()
})
