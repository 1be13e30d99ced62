import { exactBudget } from '../../adapters/proxy/exact-budget.ts'
import type { Budget } from 'fitting-room'
import { postgresBudget, type PostgresQueries } from 'fitting-room/storage/postgres'
import { distributions, models, type Distribution } from './jobs.ts'
import type { Scenario } from './run.ts'
import { naive, room, type Strategy } from './strategies.ts'
import { obedientBudget } from '../support/obedient.ts'

const minute = 60_000
const hour = 60 * minute

/** Kiosks at which the next shopper comes five seconds after the last one has gone. */
const busy = (devices: number, durationMs: number, distribution: Distribution = distributions.tuned): Scenario => ({
  devices,
  durationMs,
  distribution,
  pauseMs: () => 5_000,
})

/** Seldom in the morning and in the evening, most often at midday. */
const ofTheDay = (random: () => number, nowMs: number) => {
  const rush = Math.sin((Math.PI * (nowMs % (12 * hour))) / (12 * hour)) ** 2
  return (-Math.log(1 - random()) * 4 * minute) / (0.1 + rush)
}

const seldom: Scenario = {
  ...busy(1_000, hour),
  pauseMs: (random) => -10 * minute * Math.log(1 - random()),
}

/** Who comes through one IP. */
export const scenarios: Readonly<Record<string, Scenario>> = {
  '1 shopper': busy(1, hour),
  '1 shopper, times anywhere from 20 to 60 s': busy(1, hour, distributions.uniform),
  '1 shopper, times of 15 or 60 s': busy(1, hour, distributions.bimodal),
  '1 shopper, a slow day': busy(1, hour, distributions.slow),
  '1 shopper, previews that tell little': busy(1, hour, distributions.loose),
  '1 shopper, a model of 20 s and one of 60 s by turns': {
    ...busy(1, hour, distributions.byModel),
    funnelIds: Object.keys(models).map(Number),
  },
  '4 kiosks, always busy': busy(4, hour / 2),
  '20 kiosks, always busy': busy(20, hour),
  '100 kiosks, always busy': busy(100, hour),
  '1,000 kiosks, a shopper every 10 minutes each': seldom,
  '1,000 kiosks that are told how many they are (`shareOf`)': { ...seldom, isKnown: true },
  '40 kiosks from morning to evening, clocks that are wrong, 1 % of answers lost': {
    ...busy(40, 12 * hour),
    pauseMs: ofTheDay,
    present: (device, random) => [hour * 2 * random(), hour * (device % 4 === 0 ? 6 : 12)],
    wrongByMs: (random) => 20 * minute * (random() - 0.5),
    loss: 0.01,
  },
}

/** Those in which one exact count is played, too. */
export const counted = ['4 kiosks, always busy', '20 kiosks, always busy', '100 kiosks, always busy']

/** Devices that have one exact count together; a new one for each play. */
export function oneCount(): Strategy {
  let shared: Budget | undefined
  return room((clock) => ({ budget: (shared ??= exactBudget(clock)) }))
}

/** Devices that have their count in one database, each as a process of its own; the database's clock is the crowd's. */
export function oneDatabase(database: PostgresQueries): Strategy {
  return (parts) => {
    const { time, clock } = parts
    const query: PostgresQueries['query'] = (text, values) =>
      time.during(database.query(text.replace('clock_timestamp()', `to_timestamp(${clock.now() / 1_000})`), values))
    return room(() => ({ budget: postgresBudget({ query }, { clock }) }))(parts)
  }
}

/** Those that are compared. */
export const strategies: Readonly<Record<string, Strategy>> = {
  'a poller every 2 s': naive,
  'without the budget': room((clock) => ({ budget: obedientBudget(clock), timing: { pollIntervalMs: 2_000 } })),
  'fitting-room': room(),
}
