import { afterAll, beforeAll, expect, it } from 'vitest'
import { killEverywhere, openShop, type Shop } from './shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop(1)
})
afterAll(() => shop.close())

it('keeps the promises in lease mode, killed before and after every call of its storage and at every exchange', async () => {
  const points = await killEverywhere(shop, 'one storage in lease mode', [{}, {}], 0)
  expect(points).toEqual(expect.arrayContaining(['before update lease', 'after update try-on', 'before POST generations']))
})

it('keeps the promises in lease mode, killed as the service accepts', async () => {
  const { loads, paid } = await shop.shopper([{ killOnAccept: true }, {}])
  expect(paid).toHaveLength(1)
  const last = loads.at(-1)
  expect([last?.state, last?.jobId]).toEqual(['outcomeUnknown', null])
})
