// as in ticket.ts, of what the room has only types
import type { isHttpUrl as IsHttpUrl } from '../contract/forms.ts'
import type { withinLimit as WithinLimit } from '../platform/clock.ts'
import type { Clock, Fetch } from '../ports.ts'
import type { Catalog } from '../records/catalog.ts'
import type { Shopper } from '../records/epochs.ts'
import type { Keys } from '../records/keys.ts'
import type { BoundedPhotoStore } from '../records/photo-store.ts'
import type { PictureProblem, Problem, problemOf as ProblemOf } from '../rules/problem.ts'
import type { AttemptRecord, recordOfPoll as RecordOfPoll } from '../rules/record.ts'
import type { TryOnResult, TryOnView } from '../rules/view.ts'
import type { Pictured, Pictures } from '../try-on/pictures.ts'
import type { Errands } from '../shopper/errands.ts'
import type { VisitorStore } from '../shopper/visitor.ts'
import type { RoomClient } from '../wire/room-client.ts'
import { perShopper } from './per-shopper.ts'

/** Why there is no picture. */
type PictureReason = PictureProblem['reason']

interface PicturesParts {
  catalog: Catalog
  keys: () => Keys
  store: BoundedPhotoStore
  clock: Clock
  client: RoomClient
  errands: Errands
  visitor: VisitorStore
  fetch: Fetch
  /** Whether pictures are kept. */
  keeps: boolean
  isHttpUrl: typeof IsHttpUrl
  withinLimit: typeof WithinLimit
  recordOfPoll: typeof RecordOfPoll
  /** A result as views have it. */
  resultIn: (record: AttemptRecord) => TryOnResult | null
  problemOf: typeof ProblemOf
  errorOf: (problem: Problem) => PictureError
}

type PictureError = Error & { problem: Problem }

/** How long a picture may take to arrive, in ms. */
const loadLimitMs = 60_000

/** How long a job is not asked again for the address of one picture, in ms, and how soon where it could not be asked. */
const askAgainMs = 60_000
const tryAgainMs = 5_000

/** What a server says of an address that was good once. */
const dead: readonly number[] = [403, 404, 410]

export function createPictures(parts: PicturesParts): Pictures {
  const {
    catalog,
    keys,
    store,
    clock,
    client,
    errands,
    visitor,
    isHttpUrl,
    withinLimit,
    recordOfPoll,
    resultIn,
    problemOf,
    errorOf,
  } = parts
  /** What was asked for each attempt, and until when that is the answer. */
  const askedBy = perShopper(() => new Map<string, { answer: Promise<string>; before: string; until: number }>())
  /** Which pictures were fetched to be kept. */
  const triedBy = perShopper(() => new Set<string>())

  /** As an image gives its address back, which is not as it was written. */
  const spelt = (address: string | undefined) => (isHttpUrl(address) ? new URL(address).href : address)

  const none = (reason: PictureReason) => errorOf({ kind: 'picture', reason })

  /** Which picture a view shows; throws where there is none. */
  function shownIn({ attempt, preview, result }: TryOnView) {
    const picture = result ?? preview
    if (!attempt || !picture) throw none('none')
    const key = keys().picture(attempt.id, result ? 'final' : 'preview')
    return { id: attempt.id, address: picture.imageUrl, key }
  }

  async function read(address: string, signal: AbortSignal): Promise<Blob | PictureReason> {
    const answer = await parts.fetch(address, { credentials: 'omit', signal })
    if (dead.includes(answer.status)) return 'gone'
    const blob = await answer.blob()
    return answer.ok && blob.size > 0 && blob.type.startsWith('image/') ? blob : 'unreadable'
  }

  /** The picture at an address, or why it is not to be had there; ends with its shopper, and as the room is closed. */
  const load = (address: string): Promise<Blob | PictureReason> =>
    errands.run(`picture ${address}`, (life) => {
      const ends = new AbortController()
      const end = () => ends.abort()
      // not every fetch ends as its signal says
      const ended = new Promise<never>((_, reject) => ends.signal.addEventListener('abort', reject))
      life.addEventListener('abort', end)
      return withinLimit(clock, loadLimitMs, Promise.race([read(address, ends.signal), ended]))
        .catch(() => 'unreadable' as const)
        .finally(() => {
          life.removeEventListener('abort', end)
          end()
        })
    })

  /** The final attempt as storage has it; throws where it cannot be read, or has none. */
  async function finalOf({ attempts }: Pictured, id: string): Promise<AttemptRecord> {
    const found = await attempts.look().catch(() => {
      throw errorOf({ kind: 'storageUnreadable' })
    })
    if (found?.attemptId !== id || found.phase !== 'final' || !found.job || attempts.hasExpired(found))
      throw none('none')
    return found
  }

  /** Why a picture is not to be had at the only address that is known: an image may fail that is there. */
  const notShown = async (address: string) => none((await load(address)) === 'gone' ? 'gone' : 'unreadable')

  /** Where the picture of a final attempt is by now, which is another address than that of before. */
  async function addressAnew(of: Pictured, id: string, before: string): Promise<string> {
    const record = await finalOf(of, id)
    const known = resultIn(record)?.imageUrl
    // another page may have asked before
    if (known !== undefined && known !== before) {
      of.learn({ kind: 'stands', record, durable: of.attempts.isStored(record) })
      return known
    }
    const uniqueUserId = record.elsewhere ? undefined : await visitor.known()
    // a job is asked for only at the installation that it came from
    if (!client.isSameInstallation()) throw none('unreadable')
    const outcome = await client.getGeneration(record.job!.jobId, { uniqueUserId }, { urgent: true })
    if (outcome.kind !== 'accepted') throw outcome.answer.status === 404 ? none('gone') : errorOf(problemOf(outcome))
    // the answer may be older than what another page was told
    const now = await finalOf(of, id)
    const next = now.savedAt === record.savedAt ? recordOfPoll(now, outcome.data, clock.now()) : now
    const address = next.phase === 'final' ? resultIn(next)?.imageUrl : undefined
    if (address === undefined || address === before) throw await notShown(before)
    // a page that only looks on has not begun it
    if (next !== now) await of.attempts.restore()
    of.learn(
      next === now
        ? { kind: 'stands', record: now, durable: of.attempts.isStored(now) }
        : await of.attempts.write(next, now),
    )
    return address
  }

  /** Asked once by all who want to know, and no sooner again than it makes sense. */
  function anew(of: Pictured, id: string, before: string): Promise<string> {
    const asked = askedBy(of.by)
    const earlier = asked.get(id)
    if (earlier && clock.monotonic() < earlier.until)
      // where the next address is as dead, another one so soon would be no better
      return earlier.before === before
        ? earlier.answer
        : earlier.answer.then(async () => Promise.reject(await notShown(before)))
    const entry = { answer: addressAnew(of, id, before), before, until: Infinity }
    asked.set(id, entry)
    const rest = (ms: number) => (entry.until = clock.monotonic() + ms)
    entry.answer.then(
      () => rest(askAgainMs),
      ({ problem }: PictureError) => rest(problem.kind === 'picture' ? askAgainMs : tryAgainMs),
    )
    return entry.answer
  }

  async function save(id: string, key: string, picture: Blob, by: Shopper): Promise<void> {
    // what no later page could find to remove is not kept
    if ((await catalog.list(key, by)) !== 'stored') return
    const isWanted = async () => (await catalog.isWanted(id, by)) && (await catalog.entries())[key] !== undefined
    try {
      await store.set(key, { bytes: await picture.arrayBuffer(), type: picture.type }, isWanted)
    } catch {
      await store.strikeOut(key)
    }
  }

  return {
    async picture(of) {
      const { id, key, address } = shownIn(of.seen)
      const kept = await store.get(key).catch(() => undefined)
      if (kept) return new Blob([kept.bytes], { type: kept.type })
      const first = await load(address)
      const isFinal = of.seen.state === 'final'
      const loaded = first === 'gone' && isFinal ? await load(await anew(of, id, address)) : first
      if (typeof loaded === 'string') throw none(loaded)
      if (parts.keeps && !of.by.aborted) void save(id, key, loaded, of.by).catch(() => undefined)
      return loaded
    },

    async failed(of, failedAddress) {
      const { attempt, result, state } = of.seen
      // there is another picture by now
      if (attempt && failedAddress !== undefined && spelt(failedAddress) !== spelt(result?.imageUrl)) return
      const { id, address } = shownIn(of.seen)
      // whoever follows the job hears of another address anyway
      if (state !== 'final') return
      await anew(of, id, address).catch((error: PictureError) => {
        // of anything else the view would tell when it is over, too
        if (error.problem.kind === 'picture' && isNews(of, error.problem)) of.refuse(error.problem)
        throw error
      })
    },

    async keep(view, by) {
      if ((!view.preview && !view.result) || by.aborted) return
      const { id, key, address } = shownIn(view)
      const tried = triedBy(by)
      const name = `${key} ${address}`
      if (tried.has(name)) return
      tried.add(name)
      if (await store.get(key)) return
      const picture = await load(address)
      if (typeof picture !== 'string') await save(id, key, picture, by)
    },
  }
}

/** Whether a problem of a final picture that is still shown was not said yet. */
function isNews({ seen, view }: Pictured, problem: Problem): boolean {
  const now = view()
  const isShown = now.state === 'final' && now.result.imageUrl === seen.result?.imageUrl
  if (!isShown || now.attempt.id !== seen.attempt?.id) return false
  return JSON.stringify(now.problem) !== JSON.stringify(problem)
}

/** What is wrong with pictures, for developers. */
export const pictureTexts: Record<PictureReason, string> = {
  none: 'there is no picture yet',
  gone: 'the address of the picture is dead, and the service knows no other one',
  unreadable:
    'this page may not read the picture, or it could not be reached or shown; an <img> may show it all the same',
}
