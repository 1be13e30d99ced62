import { afterAll, beforeAll, expect, it } from 'vitest'
import { killEverywhere, openShop, pageIn, proxyBehind, type Shop } from './shop.ts'

let shop: Shop
beforeAll(async () => {
  shop = await openShop(1, 'through a proxy')
})
afterAll(() => shop.close())

it('keeps the promises behind a proxy that is killed before and after every exchange of its own', async () => {
  const points = await killEverywhere(shop, 'the proxy', [{}, {}], proxyBehind)
  expect(points).toEqual(expect.arrayContaining(['before POST generations 1', 'answered POST generations 1']))
})

it('keeps the promises where the page behind a proxy is killed', async () => {
  const points = await killEverywhere(shop, 'a page behind the proxy', [{}, {}], pageIn(0))
  expect(points).toContain('before POST generations 1')
})
