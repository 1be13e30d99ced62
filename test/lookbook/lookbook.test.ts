import { expect, it } from 'vitest'
import { seededChance } from '../model/platform.ts'
import { playLookbook } from './lookbook.ts'

it('comes to its end though its processes are killed again and again: each try-on is paid for once, and none is lost', async () => {
  const random = seededChance(1)
  const report = await playLookbook({
    tryOns: 12,
    processes: 2,
    atOnce: 3,
    generation: { previewAfterMs: 60, readyAfterMs: 150 },
    livesMs: () => 4_000 + 8_000 * random(),
  })
  const { kills, paid, finals, unknown, twice, lost, tookMs } = report
  console.log(
    `lookbook: ${kills} kills, ${paid} paid, ${unknown} unknown, ${twice} twice, ${lost} lost, ${tookMs.toFixed(0)} ms`,
  )
  expect(kills).toBeGreaterThan(0)
  expect([twice, lost, finals + unknown]).toEqual([0, 0, 12])
  expect(paid).toBeGreaterThanOrEqual(finals)
})
