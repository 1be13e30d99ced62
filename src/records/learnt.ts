import * as is from '../contract/schema.ts'
import type { Times } from '../budget/forecast.ts'
import type { Pace } from '../budget/pace.ts'
import { codecOf, readable, type Codec, type Journal } from './journal.ts'
import type { Keys } from './keys.ts'

const within = (least: number, most: number) =>
  is.that<number>((value) => typeof value === 'number' && value >= least && value <= most)
const weights = is.that<Record<string, number>>(
  (value) =>
    is.tableOf(within(0, 100)).safeParse(value).success &&
    Object.keys(value as object).every((step) => /^-?\d+$/.test(step)),
)
const closure = is.that<Pace['closed'][string]>((value) => {
  const schema = is.object({ from: is.number, until: is.number, spreadMs: is.optional(within(0, 3_600_000)) })
  const { from = NaN, until = NaN } = schema.safeParse(value).data ?? {}
  return within(0, 4 * 3_600_000).safeParse(until - from).success
})

/** What cannot be read is as good as nothing: it is only what was learnt. */
export const paceCodec: Codec<Pace> = codecOf(
  is.object({
    sent: is.listOf(is.number),
    closed: is.tableOf(closure),
    gapMs: within(0, 3_600_000),
    begunAt: is.number,
    price: within(0, 100),
    pricedAt: is.number,
  }),
  null,
)

export const timesCodec: Codec<Times> = codecOf(
  is.tableOf(is.object({ preview: weights, final: weights, ratio: weights })),
  null,
)

/** What a room has learnt, where it is kept. */
export function learntIn(journal: Journal, keys: () => Keys) {
  const kept = <T extends object>(name: keyof Keys['learnt'], codec: Codec<T>) => {
    const cell = () => journal.cell(keys().learnt[name], codec)
    return {
      read: async () => readable(await cell().read()),
      update: (change: (old: T | null) => T) => cell().update((found) => change(readable(found))),
    }
  }
  return { pace: kept('pace', paceCodec), times: kept('times', timesCodec) }
}
