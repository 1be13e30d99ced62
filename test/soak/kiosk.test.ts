import { afterAll, beforeAll, expect, it } from 'vitest'
import { installPlatform } from '../model/platform.ts'
import { grownSince, Kiosk } from './shoppers.ts'

let restorePlatform = () => {}
beforeAll(() => void (restorePlatform = installPlatform()))
afterAll(() => restorePlatform())

it('a kiosk keeps nothing of the shoppers before, whatever fails and whenever the power is cut', async () => {
  const kiosk = new Kiosk(20_261_121)
  for (let served = 0; served < 10; served++) await kiosk.serve()
  const first = kiosk.figures()
  for (let served = 0; served < 50; served++) await kiosk.serve()
  expect([...kiosk.violations]).toEqual([])
  // without a collection of garbage the heap says nothing
  expect(grownSince(first, { ...kiosk.figures(), heap: first.heap })).toEqual([])
  await kiosk.close()
})
