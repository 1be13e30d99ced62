import * as is from '../contract/schema.ts'
import type { Times } from '../budget/forecast.ts'
import type { Pace } from '../budget/pace.ts'
import type { Codec } from './journal.ts'

const numbers = is.tableOf(is.number)

/** What cannot be read is as good as nothing: it is only what was learnt. */
const codecOf = <T extends object>(schema: is.Schema<T>): Codec<T> => ({
  read: (stored) => schema.safeParse(stored).data ?? null,
  write: (value) => value,
})

export const paceCodec: Codec<Pace> = codecOf(
  is.object({
    sent: is.listOf(is.number),
    closed: is.tableOf(is.object({ from: is.number, until: is.number })),
    gapMs: is.number,
    begunAt: is.number,
    price: is.number,
    pricedAt: is.number,
  }),
)

export const timesCodec: Codec<Times> = codecOf(
  is.tableOf(is.object({ preview: numbers, final: numbers, ratio: numbers })),
)
