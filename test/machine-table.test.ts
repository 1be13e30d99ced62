import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { TryOn } from 'fitting-room'
import { answers, createWorld, dropped, person, product, type World } from './support/world.ts'

let world: World
beforeEach(() => void (world = createWorld()))
afterEach(() => world.close())

/** Every state that is shown from now on, without repetitions. */
function statesOf(tryOn: TryOn): string[] {
  const states: string[] = [tryOn.get().state]
  tryOn.subscribe(({ state }) => state !== states.at(-1) && states.push(state))
  return states
}

async function askedForEmail(): Promise<TryOn> {
  const tryOn = world.room().tryOn({ ...product, variantId: '2009' })
  tryOn.subscribe(() => {})
  await tryOn.start(person)
  await world.until(tryOn, 'needsEmail')
  return tryOn
}

describe('needsEmail', () => {
  it.each([
    ['is refused', answers(400, { error: 'Registration failed' })],
    ['gets a malformed answer', answers(200, { data: 7 })],
  ])('stays in sight while an address %s, so that its form and what was typed stay', async (_, fault) => {
    const tryOn = await askedForEmail()
    world.fault('POST', '/customer-register', [fault])
    const states = statesOf(tryOn)
    await expect(tryOn.submitEmail({ email: 'ada@example.com' })).rejects.toThrow('registerCustomer')
    expect(states).toEqual(['needsEmail'])
    expect(tryOn.get().can.submitEmail).toBe(true)
  })

  it('stays in sight while a registration that gets no answer is repeated', async () => {
    const tryOn = await askedForEmail()
    world.fault('POST', '/customer-register', [dropped, dropped])
    const states = statesOf(tryOn)
    const word = tryOn.submitEmail({ email: 'ada@example.com' })
    await world.until(tryOn, 'processing')
    await word
    expect(states).toEqual(['needsEmail', 'submitting', 'processing'])
  })
})
