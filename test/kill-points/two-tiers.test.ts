import { afterAll, beforeAll, expect, it } from 'vitest'
import { killEverywhere, openShop, pageIn, type Shop } from './shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop(2)
})
afterAll(() => shop.close())

it('keeps the promises on two tiers, killed between any two changes of each and at every exchange', async () => {
  const points = await killEverywhere(shop, 'two tiers', [{}, {}], pageIn(0))
  expect(points).toEqual(
    expect.arrayContaining([
      'before first: update try-on 1',
      'before second: set marker 1',
      'before POST generations 1',
    ]),
  )
})

it('keeps the promises on two tiers, killed as the service accepts', async () => {
  const { loads, paid } = await shop.shopper([{ killOnAccept: true }, { failing: true }, {}])
  expect(paid).toHaveLength(1)
  expect(loads.slice(1).map(({ state, problem }) => [state, problem])).toEqual([
    ['idle', 'storageUnreadable'],
    ['outcomeUnknown', 'interrupted'],
  ])
})
