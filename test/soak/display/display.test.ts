import { afterAll, beforeAll, expect, it } from 'vitest'
import { limits } from '../../limits.ts'
import { Display } from './display.ts'

const display = new Display(20_261_121)
beforeAll(() => display.open(), limits.testTimeout)
afterAll(() => display.close())

it('a display in a real browser keeps, shows and remembers nothing of the shoppers before', async () => {
  for (let served = 0; served < 4; served++) await display.serve()
  const { nodes } = await display.figures()
  for (let served = 0; served < 4; served++) await display.serve()
  expect(display.traces).toEqual([])
  expect((await display.figures()).nodes).toBeLessThanOrEqual(nodes)
  // who is slow has left before there is a picture
  expect(display.did.pictures).toBeGreaterThan(0)
})
