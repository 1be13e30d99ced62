import { afterAll, beforeAll, expect, it } from 'vitest'
import { killEverywhere, openShop, type Shop } from './shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop(2)
})
afterAll(() => shop.close())

it('keeps the promises where the first tier fails in every other load', async () => {
  await killEverywhere(shop, 'a first tier that fails in every other load', [{}, {failing:true}, {}], 0)
})
