import { afterAll, beforeAll, it } from 'vitest'
import { killEverywhere, openShop, pageIn, type Shop } from './shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop(2)
})
afterAll(() => shop.close())

const failing = true

it('keeps the promises where the first tier fails in every other load, from the second one on', async () => {
  await killEverywhere(shop, 'a first tier that works and fails by turns', [{}, { failing }, {}], pageIn(0))
})

it('keeps the promises where the first tier fails in every other load, from the first one on', async () => {
  // the consent is in the second tier alone, as in the field where a browser's storage fails now and then
  const consented = { failing, killAt: 'before GET funnel 1' }
  await killEverywhere(shop, 'a first tier that fails and works by turns', [consented, {}, { failing }, {}], pageIn(1))
})
