import { afterAll, beforeAll, expect, it } from 'vitest'
import { killEverywhere, openShop, pageIn, type Shop } from './shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop(1)
})
afterAll(() => shop.close())

it('keeps the promises in lease mode, killed between any two changes of its storage and at every exchange', async () => {
  const points = await killEverywhere(shop, 'one storage in lease mode', [{}, {}], pageIn(0))
  expect(points).toEqual(
    expect.arrayContaining(['before update lease 1', 'before update try-on 1', 'before POST generations 1']),
  )
})

it('keeps the promises in lease mode, killed as the service accepts', async () => {
  const { loads, paid } = await shop.shopper([{ killOnAccept: true }, {}])
  expect(paid).toHaveLength(1)
  const { state, states, jobId } = loads[1] ?? {}
  // until the dead page's lease has ended, its claim is what there is to see
  expect([states, state, jobId]).toEqual([['submitting', 'outcomeUnknown'], 'outcomeUnknown', null])
})
