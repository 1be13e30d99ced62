import { afterAll, beforeAll, expect, it } from 'vitest'
import { killEverywhere, openShop, type Shop } from './shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop(2)
})
afterAll(() => shop.close())

it('keeps the promises on two tiers, killed before and after every call of each and at every exchange', async () => {
  const points = await killEverywhere(shop, 'two tiers', [{}, {}], 0)
  expect(points).toEqual(
    expect.arrayContaining(['after first: update try-on', 'before second: set marker', 'before POST generations']),
  )
})
