import { afterAll, beforeAll, expect, it } from 'vitest'
import { installPlatform } from './platform.ts'
import { draw, play, totals } from './sequence.ts'

/** `npm run model` plays more of them. */
const seed = 20_261_121
const sequences = 1_500

let restorePlatform = () => {}
beforeAll(() => void (restorePlatform = installPlatform()))
afterAll(() => restorePlatform())

it('no sequence of pages, storages, clocks and strangers that misbehave breaks a promise', async () => {
  const total = totals()
  for (let number = 0; number < sequences; number++) {
    const found = await play(draw(seed, number))
    const replay = `npm run model -- --seed ${seed} --at ${number}\n${found.trace.join('\n')}`
    expect(found.violations, replay).toEqual([])
    total.add(found)
  }
  console.log(`seed ${seed}: ${total.text()}`)
})
