import { createHash } from 'node:crypto'
import { pino } from 'pino'
import type { Job } from '../ports.ts'
import { redacted } from './redacted.ts'

/** What whoever runs the service reads: a line of JSON each, without addresses, e-mail addresses, keys and IDs of shoppers. */
export interface Log {
  /** Something that is nobody's input went wrong. */
  report(error: unknown): void
  /** A job has ended; only failures are told of. */
  ended(job: Job): void
}

/** Writes to a stream, by default to the standard error. `keys` are the stores'. */
export function createLog(keys: () => readonly string[], to: { write(line: string): void } = process.stderr): Log {
  const clean = (text: string) => redacted(text, keys())
  const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, to)

  /** With what it was caused by. */
  function described(error: unknown): object {
    if (!(error instanceof Error)) return { message: clean(String(error)) }
    const { name, message, stack = '', cause } = error
    const frames = stack.slice(stack.indexOf('\n    at ') + 1)
    return {
      type: name,
      message: clean(message),
      ...(frames.startsWith('    at ') && { stack: clean(frames) }),
      ...(cause !== undefined && { cause: described(cause) }),
    }
  }

  return {
    report: (error) => log.error({ error: described(error) }, 'something went wrong'),
    ended({ id, state, storeId, product, funnelType, test, error, acceptedAt }) {
      if (state !== 'failed') return
      const job = digestOf(id)
      log.warn({ job, store: storeId, product: product.id, funnelType, test, error, acceptedAt }, 'a job failed')
    },
  }
}

/** A job's ID is its shopper's; who has it finds the line by the first twelve digits of its SHA-256. */
const digestOf = (id: string) => createHash('sha256').update(id).digest('hex').slice(0, 12)
