// as in ticket.ts, of what the room has only types
import type { Clock } from '../ports.ts'
import type { Catalog } from '../records/catalog.ts'
import type { Shopper } from '../records/epochs.ts'
import type { Cell, Codec, Journal, Kept } from '../records/journal.ts'
import type { AttemptRecord } from '../rules/record.ts'
import { eventsOf, type RoomEvent, type RoomEventType } from '../rules/room-event.ts'
import type { Stand, Teller } from '../telling.ts'
import { perShopper } from './per-shopper.ts'

/** What was told of an attempt, until when that is remembered (epoch ms), and with which photo it was begun. */
interface OfAttempt {
  until: number
  types: string[]
  photo?: string
  /** When a page set about telling that the picture was seen, in epoch ms. */
  seenAt?: number
}

interface Told {
  savedAt: number
  told: Record<string, OfAttempt>
}

/** How long a page may take to tell that a picture was seen before another one does, in ms. */
const tellingMs = 10_000

/** What cannot be read tells of nothing: then it is told again, with the same key. */
const codec: Codec<Told> = {
  read(stored) {
    const { savedAt, told } = Object(stored)
    const isRead = told && Object.values(told).every((each) => Array.isArray(Object(each).types))
    return typeof savedAt === 'number' && isRead ? { savedAt, told } : null
  },
  write: (value) => value,
}

interface TellerParts {
  catalog: Catalog
  journal: Journal
  /** Where it is noted what was told. */
  key: () => string
  clock: Clock
  retentionMs: number
  digitsOf: (id: string) => string
  tell: (event: RoomEvent) => void
  /** Whether anybody listens; what happens meanwhile waits. */
  isHeard: () => boolean
  /** Has every try-on of the room say where it stands. */
  standAll: () => void
  /** Has something done a while later: in a closed room only what is owed. */
  later: (run: () => void, isOwed?: boolean) => void
  report: (error: unknown) => void
}

/**
 * Tells what has happened to attempts, each thing once: it is told first and noted then, so that a crash between the two has
 * it told again with the same key. A picture is seen on whichever page, so that one says first that it is about to.
 */
export function createTeller(parts: TellerParts): Teller {
  const { catalog, journal, key, clock, retentionMs, digitsOf, isHeard, standAll, later, report } = parts
  const cell = (): Cell<Told> => journal.cell(key(), catalog.dated(codec))
  /** What this page has told, whatever storage knows of it. */
  const toldHere = perShopper(() => new Set<string>())
  /** Where each attempt was seen last. */
  const standingsOf = perShopper(() => new Map<string, string>())
  let tail: Promise<unknown> = Promise.resolve()

  /** How much of that is not done yet. */
  let pending = 0

  function queued(work: () => Promise<void>): void {
    pending += 1
    tail = tail
      .then(work)
      .catch(report)
      .finally(() => (pending -= 1))
  }

  function tell(event: RoomEvent, by: Shopper): void {
    const here = toldHere(by)
    if (by.aborted || here.has(event.key)) return
    here.add(event.key)
    parts.tell(event)
  }

  async function settled(): Promise<void> {
    while (pending > 0) await tail
  }

  async function toldOf(): Promise<Told['told']> {
    const found = await cell().read()
    return Object(found).told ?? {}
  }

  /** Changes what is noted of an attempt; resolves with where that stands, or with null where it was not to be changed. */
  async function change(
    id: string,
    by: Shopper,
    how: (own: OfAttempt | undefined) => Partial<OfAttempt> | null,
  ): Promise<Kept | null> {
    let isChanged = false
    if ((await catalog.list(key(), by)) === 'gone') return null
    const now = clock.now()
    const kept = await cell().update(
      (found) => {
        if (by.aborted || found === 'unreadable') return undefined
        const all = Object.entries(found?.told ?? {}).filter(([, { until }]) => until > now)
        const own = found?.told[id]
        const next = how(own)
        // an update may be tried again
        isChanged = next !== null
        if (!isChanged) return undefined
        const told = { types: [], ...own, ...next, until: now + 2 * retentionMs }
        return { savedAt: now, told: { ...Object.fromEntries(all), [id]: told } }
      },
      () => catalog.isPresent(by),
    )
    return isChanged && !by.aborted ? kept : null
  }

  /** Notes what was told of an attempt; where only memory has that, another page would tell it once more. */
  async function note(id: string, types: readonly RoomEventType[], by: Shopper, photo?: string): Promise<void> {
    const all = (own: OfAttempt | undefined) => [...new Set([...(own?.types ?? []), ...types])]
    const kept = await change(id, by, (own) => ({ types: all(own), ...(photo && { photo }) }))
    if (kept === 'memory') later(() => queued(() => note(id, types, by, photo)), true)
  }

  function standOnceMore(id: string, by: Shopper): void {
    standingsOf(by).delete(id)
    later(standAll)
  }

  /** Resolves with whether it waits until storage can be read. */
  async function tellOf(record: AttemptRecord, state: Stand['view']['state'], by: Shopper): Promise<boolean> {
    const { attemptId, photo } = record
    // where it is not known what was told, that waits until it is
    const all = await toldOf().catch(() => null)
    if (all === null) {
      standOnceMore(attemptId, by)
      return true
    }
    const known = all[attemptId]?.types ?? []
    const isNewPhoto = Object.entries(all).every(([id, each]) => id === attemptId || each.photo !== photo.id)
    const news = eventsOf(record, state).filter(
      (type) => !known.includes(type) && (type !== 'photoChosen' || isNewPhoto),
    )
    // no page may have said here that there was a reset
    if (news.length === 0 || !(await catalog.isPresent(by))) return false
    if (!isHeard()) {
      standingsOf(by).delete(attemptId)
      return false
    }
    for (const type of news) tell(eventOf(type, record), by)
    await note(attemptId, news, by, photo.id)
    return false
  }

  function eventOf(type: RoomEventType, record: AttemptRecord): RoomEvent {
    const { attemptId, productId, variantId, startedAt, savedAt, job, problem } = record
    const isBeginning = type === 'photoChosen' || type === 'consented' || type === 'retried'
    const at = isBeginning ? startedAt : (type === 'submitted' && job?.acceptedAt) || savedAt
    const of = {
      key: `${attemptId}:${type}`,
      attemptId,
      productId: digitsOf(productId),
      variantId: digitsOf(variantId),
      at,
      sinceMs: Math.max(0, at - startedAt),
    }
    // of a failure that has passed the phase is known
    const kind = problem?.kind ?? (record.passed?.includes('protocolError') ? 'protocol' : null)
    return type === 'failed' ? { ...of, type, problem: kind } : { ...of, type }
  }

  /** Whichever page shows the picture may be the one to tell of it, and may end before it has. */
  async function tellSeen(
    of: Pick<RoomEvent, 'attemptId' | 'productId' | 'variantId'>,
    startedAt: number,
    by: Shopper,
  ) {
    const { attemptId } = of
    if (!isHeard()) return void standingsOf(by).delete(attemptId)
    const at = Math.round(clock.now())
    let isUnderWay = false
    const isMine = await change(attemptId, by, (own) => {
      const isTold = own?.types.includes('seen') === true
      isUnderWay = !isTold && Math.abs(at - (own?.seenAt ?? -Infinity)) < tellingMs
      return isTold || isUnderWay ? null : { seenAt: at }
    }).catch(() => void (isUnderWay = true))
    // by another page, or it is not known by whom
    if (isUnderWay) return standOnceMore(attemptId, by)
    if (!isMine) return
    // who listens next hears of it once this claim is over
    if (!isHeard()) return standOnceMore(attemptId, by)
    tell({ key: `${attemptId}:seen`, ...of, at, sinceMs: Math.max(0, at - startedAt), type: 'seen' }, by)
    await note(attemptId, ['seen'], by)
  }

  return {
    stand({ view, record, product, isSeen, by }) {
      const id = view.attempt?.id
      if (id === undefined) return
      const standing = [record?.phase, record?.passed?.length, view.state, isSeen].join()
      const stood = standingsOf(by)
      if (stood.get(id) === standing) return
      stood.set(id, standing)
      let isWaiting = false
      if (record) queued(async () => void (isWaiting = await tellOf(record, view.state, by)))
      if (!isSeen || view.state !== 'final') return
      const { startedAt } = view.attempt
      // what comes before it is told first
      queued(async () => (isWaiting ? undefined : tellSeen({ attemptId: id, ...product }, startedAt, by)))
    },
    settling: () => (pending > 0 ? settled() : null),
    discard(record, by) {
      queued(async () => tell(eventOf('discarded', { ...record, savedAt: Math.round(clock.now()) }), by))
    },
  }
}
