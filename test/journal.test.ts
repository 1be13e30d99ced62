import { describe, expect, it } from 'vitest'
import { memoryStorage } from 'fitting-room/storage/memory'
import { systemClock } from '../src/platform/system-clock.ts'
import { createJournal, type Codec } from '../src/records/journal.ts'
import { collectGarbage } from './support/collect-garbage.ts'

const codec: Codec<object> = { read: (stored) => stored as object, write: (value) => value }

describe('the journal of a page that lives for months', () => {
  it('holds nothing of what it has looked for, and not found, nor of what it has removed', async () => {
    const journal = createJournal(memoryStorage(), systemClock)
    const look = async (from: number) => {
      for (let at = from; at < from + 5_000; at++) {
        const cell = journal.cell(`key ${at}`, codec)
        await cell.read()
        await cell.copies()
        await cell.update(() => ({ at }))
        await cell.update(() => null)
      }
      await collectGarbage()
      return process.memoryUsage().heapUsed
    }
    const before = await look(0)
    // a key that is held takes 2 kB
    expect((await look(5_000)) - before).toBeLessThan(5_000 * 400)
  })
})
