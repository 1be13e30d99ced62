import { afterEach, beforeEach, expect, it } from 'vitest'
import { createWorld, person, product, type World } from './support/world.ts'

let world: World
beforeEach(() => void (world = createWorld({ draws: true })))
afterEach(() => world.close())

it('carries a photo to the final picture with one submission', async () => {
  const tryOn = world.room().tryOn(product)
  const states: string[] = []
  tryOn.subscribe(({ state }) => states.at(-1) === state || states.push(state))
  await tryOn.start(person)
  const view = await world.until(tryOn, 'final')
  expect(view.result?.imageUrl).toMatch(/^https:\/\/api.test\/pictures\//)
  expect(view.result?.storageStatus).toBe('READY')
  expect(states).toEqual(['idle', 'preparing', 'submitting', 'processing', 'preview', 'final'])
  expect(world.count('POST', '/generations')).toBe(1)
  expect(world.count('POST', '/uploads')).toBe(1)
})
