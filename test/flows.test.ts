import { expect, it } from 'vitest'
import { playFlows } from './flows/flows.ts'

it.each(['each a room', 'one room'] as const)('many flows, %s, cost each what few do', async (rooms) => {
  const few = await playFlows(20, rooms)
  const many = await playFlows(80, rooms)
  expect([few.timers, many.timers]).toEqual([3, 3])
  expect(many.storageCalls / few.storageCalls).toBeLessThan(1.02)
  expect(many.storageBytes / few.storageBytes).toBeLessThan(1.02)
  expect([few.timersLeft, many.timersLeft]).toEqual([0, 0])
})
