import { setTimeout as after } from 'node:timers/promises'
import type { Clock, Job, Order, Pictures, Provider, Store } from '../ports.ts'
import { DrawingEnded } from '../drawing/not-drawn.ts'
import { PhotoNotReadable } from '../photo-problems.ts'
import { PutOff, putOff } from '../put-off.ts'
import { untilWritten } from '../until-written.ts'
import { changedJob, startedAs } from './changed-job.ts'
import { NotBegun } from './not-begun.ts'

export interface ProvidedParts {
  provider: Provider
  store: Store
  clock: Clock
  /** Where the provider may tell of a job. */
  webhookOf: (jobId: string) => string | null
  /** How often a provider is looked at. Default: 2 s. */
  lookMs?: number
  /** How long a turn, pictures, or word of whether they were begun, are waited for. Default: 10 minutes. */
  patienceMs?: number
  /** The same of word that can only come as the answer to another process, in ms. Default: a minute. */
  answerMs?: number
  /** Hears of failures that are nobody's input. */
  report: (error: unknown) => void
  /** The process is about to end: nobody is asked any more, and who has been is waited for. */
  ending?: AbortSignal | undefined
}

export type Provided = ReturnType<typeof createProvided>

/** How long a provider is left alone at the most that has surely begun nothing, in ms: each time longer, as others wait, too. */
const longestPauseMs = 60_000

/** How long after that was written a provider is asked, in ms: others give up waiting for the answer after `answerMs`. */
const longestStillMs = 30_000

/** How often pictures are fetched that cannot be read. */
const mostUnreadable = 3

/** Gets a job's pictures from a provider who is asked for them once, whatever happens to this process on the way. */
export function createProvided(parts: ProvidedParts) {
  const { provider, store, clock, webhookOf, report, ending } = parts
  const { lookMs = 2_000, patienceMs = 600_000, answerMs = 60_000 } = parts

  const changed = (jobId: string, change: (job: Job) => Job | null) => changedJob(store, jobId, change)

  /** Asks, each time once it is written that it will, until it is known that there are pictures to come, or may be. */
  async function ask(job: Job, orderOf: () => Promise<Omit<Order, 'webhook'>>): Promise<void> {
    const send = await provider.prepare({ ...(await orderOf()), webhook: webhookOf(job.id) })
    const until = clock.now() + patienceMs
    for (let tries = 1; ; tries++) {
      if (ending?.aborted) throw new DrawingEnded()
      const asked = { since: clock.now(), id: null }
      const notAsked = (known: Job) =>
        known.asked?.since === asked.since && known.asked.id === null ? { ...known, asked: null } : null
      const isOurs = await changed(job.id, (known) =>
        known.state === 'queued' && !known.asked ? { ...known, asked } : null,
      ).catch(async (cause: unknown) => {
        // it may be written all the same, and nobody was asked
        await written(() => changed(job.id, notAsked))
        return putOff(cause)
      })
      // somebody else has asked, or it has ended
      if (!isOurs) return
      // this process stood still meanwhile, and whoever waits for an answer in its place gives up before one can come
      if (clock.now() > asked.since + longestStillMs) {
        await written(() => changed(job.id, notAsked))
        throw new PutOff('a provider was not asked in time')
      }
      const refused = await send().then(
        (id) => written(() => startedAs(store, job.id, id)),
        (error: unknown) => {
          if (error instanceof NotBegun) return error
          report(new Error('whether a provider has begun pictures is not known', { cause: error }))
          return null
        },
      )
      if (refused === null) return
      // whoever is next may ask, in whichever process
      await written(() => changed(job.id, notAsked))
      // it was begun after all, as the provider has told by itself
      if ((await untilRead(() => store.job(job.id)))?.asked) return
      if (refused.againMs === null || clock.now() >= until) throw refused
      await after(Math.min(refused.againMs * tries, longestPauseMs), undefined, { signal: ending }).catch(
        () => undefined,
      )
    }
  }

  const written = (write: () => Promise<unknown>) =>
    untilWritten(write, { clock, report, forMs: patienceMs, everyMs: lookMs }).then(() => null)

  async function untilRead<T>(read: () => Promise<T>): Promise<T> {
    let found: { value: T } | undefined
    await written(async () => (found = { value: await read() }))
    return (found as { value: T }).value
  }

  /** Of what passes between two looks a part counts at the most: this process may have stood still, or its clock was set. */
  function patience(): () => boolean {
    let leftMs = patienceMs
    let lookedAt = clock.now()
    return () => {
      const passedMs = clock.now() - lookedAt
      lookedAt += passedMs
      leftMs -= Math.max(0, Math.min(passedMs, patienceMs / 10))
      return leftMs <= 0
    }
  }

  /** The ID that the provider gave, in answer or later; rejects where it never came. */
  async function idOf(jobId: string): Promise<string> {
    for (;;) {
      // a database that is away for a moment says nothing of pictures that may be paid for
      const job = await untilRead(() => store.job(jobId))
      // who was about to ask did not: whoever is next may
      if (job?.state === 'queued' && !job.asked) throw new PutOff('a provider was not asked')
      const { id, since } = job?.asked ?? { id: null, since: -Infinity }
      if (id !== null) return id
      if (clock.now() >= since + (webhookOf(jobId) === null ? answerMs : patienceMs))
        throw new Error('a provider never said whether it has begun pictures')
      await after(lookMs)
    }
  }

  return {
    async picturesOf(job: Job, orderOf: () => Promise<Omit<Order, 'webhook'>>): Promise<Pictures> {
      if (!job.asked) await ask(job, orderOf)
      const id = await idOf(job.id)
      const isOver = patience()
      let unreadable = 0
      for (;;) {
        const progress = await provider.look(id).catch((error: unknown) => {
          // what has come as a picture, and is none, is hardly another one the next time
          if (error instanceof PhotoNotReadable) unreadable++
          // whatever it is, the shopper's photo is not to blame
          if (isOver() || unreadable === mostUnreadable)
            throw new Error('finished pictures of a provider could not be had', { cause: error })
          return { state: 'going' as const }
        })
        if (progress.state === 'failed') throw progress.error
        if (progress.state === 'done') return progress.pictures
        if (isOver()) throw new Error('a provider never finished its pictures')
        await after(lookMs)
      }
    },
  }
}
