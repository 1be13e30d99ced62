import type { InspectEvent } from 'fitting-room'
import { expect, it } from 'vitest'
import { createWorld, person, product } from './support/world.ts'

it('inspect tells each event of a try-on and where it stands since then, in words of its own', async () => {
  const world = createWorld()
  const told: InspectEvent[] = []
  const tryOn = world.room({ inspect: (event) => told.push(event) }).tryOn(product)
  await tryOn.start(person)
  await world.until(tryOn, 'final')
  expect(told.map(({ type }) => type)).toContain('start')
  expect(told.flatMap(({ states }) => states)).toEqual(
    expect.arrayContaining(['restoring', 'preparing.gathering.photo.uploading', 'submitting.sending', 'final']),
  )
  expect(told.filter(({ type }) => type.includes('.'))).toEqual([])
  for (const each of told) expect(each).toMatchObject({ productId: '1001', variantId: '2001' })
  await world.close()
})
