// as in ticket.ts, of what the room has only types
import type { Clock, Fetch } from '../ports.ts'
import type { Catalog } from '../records/catalog.ts'
import type { Keys } from '../records/keys.ts'
import type { BoundedPhotoStore } from '../records/photo-store.ts'
import type { PictureProblem, Problem } from '../rules/problem.ts'
import type { problemOf as ProblemOf } from '../rules/problem.ts'
import type { AttemptRecord, recordOfPoll as RecordOfPoll } from '../rules/record.ts'
import type { TryOnView } from '../rules/view.ts'
import type { Pictured, Pictures } from '../try-on/pictures.ts'
import type { VisitorStore } from '../shopper/visitor.ts'
import type { RoomClient } from '../wire/room-client.ts'

/** Why there is no picture. */
type PictureReason = PictureProblem['reason']

export interface PicturesParts {
  catalog: Catalog
  keys: () => Keys
  store: BoundedPhotoStore
  clock: Clock
  client: RoomClient
  visitor: VisitorStore
  fetch: Fetch
  recordOfPoll: typeof RecordOfPoll
  problemOf: typeof ProblemOf
  errorOf: (problem: Problem) => Error & { problem: Problem }
}

/** How long a picture may take to arrive, in ms. */
const loadLimitMs = 60_000

/** How long a job is not asked again for its picture's address, in ms: what a page can not show it asks for without end. */
const askAgainMs = 60_000

/** What a server says of an address that was good once. */
const dead: readonly number[] = [403, 404, 410]

const whiches = ['preview', 'final'] as const

export function createPictures(parts: PicturesParts): Pictures {
  const { catalog, keys, store, clock, client, visitor, recordOfPoll, problemOf, errorOf } = parts
  const askedAt = new Map<string, number>()
  const tried = new Set<string>()

  const none = (reason: PictureReason) => errorOf({ kind: 'picture', reason })

  /** Which picture a view shows; throws where there is none. */
  function shownIn({ attempt, preview, result }: TryOnView) {
    const picture = result ?? preview
    if (!attempt || !picture) throw none('none')
    const key = keys().picture(attempt.id, result ? 'final' : 'preview')
    return { id: attempt.id, address: picture.imageUrl, key }
  }

  /** The picture at an address, or why it is not to be had there. */
  async function load(address: string): Promise<Blob | PictureReason> {
    const ends = new AbortController()
    const timer = clock.setTimeout(() => ends.abort(), loadLimitMs)
    try {
      const answer = await parts.fetch(address, { credentials: 'omit', signal: ends.signal })
      if (dead.includes(answer.status)) return 'gone'
      const blob = await answer.blob()
      return answer.ok && blob.type.startsWith('image/') ? blob : 'unreadable'
    } catch {
      return 'unreadable'
    } finally {
      clock.clearTimeout(timer)
    }
  }

  /** The final attempt as storage has it; throws where another one stands there. */
  async function finalOf(of: Pictured, id: string): Promise<AttemptRecord> {
    const found = await of.attempts.restore()
    const record = found.kind === 'stands' && found.record.attemptId === id ? found.record : null
    if (record?.phase !== 'final' || !record.job) throw none('none')
    return record
  }

  /** Asks the job where its picture is by now; resolves with another address than that of before. */
  async function addressAnew(of: Pictured): Promise<string> {
    const { id } = shownIn(of.view())
    if (clock.monotonic() - (askedAt.get(id) ?? -Infinity) < askAgainMs) throw none('gone')
    askedAt.set(id, clock.monotonic())
    const record = await finalOf(of, id)
    // a job is asked for only at the installation that it came from
    if (!client.isSameInstallation()) throw none('gone')
    const uniqueUserId = record.elsewhere ? undefined : await visitor.known()
    const outcome = await client.getGeneration(record.job!.jobId, { uniqueUserId }, { urgent: true })
    if (outcome.kind !== 'accepted') {
      if (outcome.answer.status === 404) throw none('gone')
      askedAt.delete(id)
      throw errorOf(problemOf(outcome))
    }
    const next = recordOfPoll(record, outcome.data, clock.now())
    if (next.phase !== 'final' || next.result?.imageUrl === record.result?.imageUrl) throw none('gone')
    of.learn(await of.attempts.write(next, record))
    return next.result!.imageUrl
  }

  return {
    async picture(of) {
      const { key, address } = shownIn(of.view())
      const kept = await store.get(key).catch(() => undefined)
      if (kept) return new Blob([kept.bytes], { type: kept.type })
      const first = await load(address)
      const loaded = first === 'gone' ? await load(await addressAnew(of)) : first
      if (typeof loaded === 'string') throw none(loaded)
      return loaded
    },

    async failed(of) {
      // whoever follows the job hears of another address anyway
      if (of.view().state === 'preview') return
      await addressAnew(of).catch((error: ReturnType<typeof errorOf>) => {
        of.refuse(error.problem)
        throw error
      })
    },

    async keep(view) {
      if (!view.preview && !view.result) return
      const { id, key, address } = shownIn(view)
      if (tried.has(key)) return
      tried.add(key)
      const by = catalog.shopper()
      if (await store.get(key)) return
      const picture = await load(address)
      // what no later page could find to remove is not stored
      if (typeof picture === 'string' || (await catalog.list(key, by)) !== 'stored') return
      const isWanted = async () => (await catalog.isPresent(by)) && (await catalog.fateOf(id)) !== 'discarded'
      await store.set(key, { bytes: await picture.arrayBuffer(), type: picture.type }, isWanted)
    },

    async drop(attemptId) {
      for (const which of whiches) {
        const key = keys().picture(attemptId, which)
        const seen = (await catalog.entries())[key]
        // what could not be removed is tried again when it expires
        if (seen !== undefined && (await store.remove(key))) await catalog.reschedule({ [key]: { seen, next: null } })
      }
    },
  }
}

/** What is wrong with pictures, for developers. */
export const pictureTexts: Record<PictureReason, string> = {
  none: 'there is no picture yet',
  gone: 'the address of the picture is dead, and the service knows no other one',
  unreadable: 'this page may not read the picture, or it could not be reached; an <img> may show it all the same',
}
