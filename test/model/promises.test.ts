import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { faultsOf, Shop, type Command, type Place } from './shop.ts'

/** The seed of this run; `SEED=n` replays one, `RUNS=n` runs longer. */
const seed = Number(process.env.SEED ?? 20_261_121)
const numRuns = Number(process.env.RUNS ?? 1_000)

const page = fc.nat({ max: 1 })
const command = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constantFrom('start', 'retry', 'retry'), page, fails: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('resume', 'submitEmail', 'startOver', 'kill', 'reload'), page }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('discard'), page, abandonPaidJob: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset'), page }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.constantFrom(500, 2_500, 9_000) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('sleep'), ms: fc.constantFrom(61_000, 181_000, 3_600_000) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('setBack'), ms: fc.constantFrom(60_000, 3_600_000) }) },
  ...(Object.keys(faultsOf) as Place[]).map((place) => ({
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fault'),
      place: fc.constant(place),
      fault: fc.constantFrom<string>(...faultsOf[place]),
    }),
  })),
) as fc.Arbitrary<Command>

const start: Command = { do: 'start', page: 0, fails: false }
const lost = (place: Place): Command => ({ do: 'fault', place, fault: 'lostBefore' })

/** Sequences that once broke a promise. */
const examples: [Command[]][] = [
  /** The other page had wiped the index that this page thought complete. */
  [[start, { do: 'reset', page: 1 }, { do: 'sleep', ms: 61_000 }, start, lost('submission'), lost('poll')]],
  /** A page that slept went on beside the one that had taken over. */
  [[lost('read'), { do: 'sleep', ms: 61_000 }, lost('read'), lost('read'), start, { do: 'wait', ms: 2_500 }]],
  /** A page that had been overtaken put a new attempt in the place of a job that it did not know. */
  [[{ do: 'setBack', ms: 60_000 }, lost('read'), start, { do: 'kill', page: 1 }, start, lost('submission'), start]],
  /** Two records of one try-on, one of them begun while the clock made the other unreadable. */
  [[start, { do: 'setBack', ms: 3_600_000 }, start, { do: 'wait', ms: 500 }]],
  [[lost('read'), start, { do: 'setBack', ms: 3_600_000 }, start, { do: 'wait', ms: 500 }]],
  /** A word that its page had carried out itself was passed on once more, after a reset. */
  [
    [
      { do: 'kill', page: 0 },
      start,
      { do: 'reload', page: 1 },
      { do: 'wait', ms: 9_000 },
      { do: 'reset', page: 1 },
      { do: 'sleep', ms: 61_000 },
      start,
    ],
  ],
  /** A wait that was over stood in the view while the submission was out. */
  [
    [
      { do: 'fault', place: 'submission', fault: 'throttled' },
      start,
      { do: 'kill', page: 0 },
      { do: 'fault', place: 'submission', fault: 'never' },
      { do: 'sleep', ms: 61_000 },
      { do: 'setBack', ms: 60_000 },
    ],
  ],
]

it('sequences of intents, faults, reloads and clock jumps on two pages: never paid twice, never lost, never untrue', async () => {
  const total = { sequences: 0, commands: 0, submissions: 0, jobs: 0, faults: 0, views: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 6, maxLength: 24, size: 'max' }), async (commands) => {
      const shop = new Shop()
      try {
        await shop.settle()
        for (const each of commands) await shop.run(each)
        await shop.reachAll()
        expect(shop.violations, shop.trace.join('\n')).toEqual([])
      } finally {
        await shop.close()
      }
      total.sequences++
      total.commands += commands.length
      for (const [name, count] of Object.entries(shop.seen)) total[name as keyof typeof shop.seen] += count
    }),
    { seed, numRuns, examples },
  )
  console.log(`seed ${seed}: ${JSON.stringify(total)}; 0 paid twice, 0 lost, 0 untrue`)
})
