// as in ticket.ts, of what the room has only types
import type { Clock } from '../ports.ts'
import type { Catalog } from '../records/catalog.ts'
import type { Shopper } from '../records/epochs.ts'
import type { Cell, Codec, Journal } from '../records/journal.ts'
import type { AttemptRecord } from '../rules/record.ts'
import { eventsOf, type RoomEvent, type RoomEventType } from '../rules/room-event.ts'
import type { Stand, Teller } from '../telling.ts'
import { perShopper } from './per-shopper.ts'

/** What was told of each attempt, until when that is remembered (epoch ms), and with which photo it was begun. */
interface Told {
  savedAt: number
  told: Record<string, { until: number; types: string[]; photo?: string }>
}

/** What can not be read tells of nothing: then it is told again, with the same key. */
const codec: Codec<Told> = {
  read(stored) {
    const { savedAt, told } = Object(stored)
    const isRead = told && Object.values(told).every((each) => Array.isArray(Object(each).types))
    return typeof savedAt === 'number' && isRead ? { savedAt, told } : null
  },
  write: (value) => value,
}

export interface TellerParts {
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
  /** Has every try-on say where it stands a while later. */
  standLater: () => void
  report: (error: unknown) => void
}

/**
 * Tells what has happened to attempts, each thing once: it is told first and noted then, so that a crash between the two has
 * it told again with the same key. A picture is seen on whichever page, so that is noted first.
 */
export function createTeller(parts: TellerParts): Teller {
  const { catalog, journal, key, clock, retentionMs, digitsOf, isHeard, standLater, report } = parts
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

  /** Notes what is told of an attempt; resolves with what nobody had noted before. */
  async function note(id: string, types: readonly RoomEventType[], by: Shopper, photo?: string): Promise<string[]> {
    let added: string[] = []
    if ((await catalog.list(key(), by)) === 'gone') return []
    const now = clock.now()
    await cell().update(
      (found) => {
        if (by.aborted || found === 'unreadable') return undefined
        const all = Object.entries(found?.told ?? {}).filter(([, { until }]) => until > now)
        const own = found?.told[id]
        // an update may be tried again
        added = types.filter((type) => !own?.types.includes(type))
        const next = { ...own, until: now + 2 * retentionMs, types: [...(own?.types ?? []), ...added] }
        return { savedAt: now, told: { ...Object.fromEntries(all), [id]: photo ? { ...next, photo } : next } }
      },
      () => catalog.isPresent(by),
    )
    return by.aborted ? [] : added
  }

  async function tellOf(record: AttemptRecord, state: Stand['view']['state'], by: Shopper): Promise<void> {
    const { attemptId, photo } = record
    // where it is not known what was told, that waits until it is
    const all = await toldOf().catch(() => null)
    if (all === null) {
      standingsOf(by).delete(attemptId)
      return standLater()
    }
    const known = all[attemptId]?.types ?? []
    const isNewPhoto = Object.entries(all).every(([id, each]) => id === attemptId || each.photo !== photo.id)
    const news = eventsOf(record, state, known).filter(
      (type) => !known.includes(type) && (type !== 'photoChosen' || isNewPhoto),
    )
    // no page may have said here that there was a reset
    if (news.length === 0 || !(await catalog.isPresent(by))) return
    if (!isHeard()) return void standingsOf(by).delete(attemptId)
    for (const type of news) tell(eventOf(type, record), by)
    await note(attemptId, news, by, photo.id)
  }

  function eventOf(type: RoomEventType, record: AttemptRecord): RoomEvent {
    const { attemptId, productId, variantId, startedAt, savedAt, job, problem } = record
    const isBeginning = type === 'photoChosen' || type === 'consented' || type === 'retried'
    const at = isBeginning ? startedAt : type === 'submitted' ? (job?.acceptedAt ?? savedAt) : savedAt
    const of = {
      key: `${attemptId}:${type}`,
      attemptId,
      productId: digitsOf(productId),
      variantId: digitsOf(variantId),
      at,
      sinceMs: Math.max(0, at - startedAt),
    }
    return type === 'failed' ? { ...of, type, problem: problem?.kind ?? null } : { ...of, type }
  }

  return {
    stand({ view, record, product, isSeen, by }) {
      const id = view.attempt?.id
      if (id === undefined) return
      const standing = [record?.phase, view.state, isSeen].join()
      const stood = standingsOf(by)
      if (stood.get(id) === standing) return
      stood.set(id, standing)
      if (record) queued(() => tellOf(record, view.state, by))
      if (!isSeen || view.state !== 'final') return
      const { startedAt } = view.attempt
      queued(async () => {
        if (!isHeard()) return void standingsOf(by).delete(id)
        const [type] = await note(id, ['seen'], by)
        const at = Math.round(clock.now())
        const of = { key: `${id}:seen`, attemptId: id, ...product, at, sinceMs: Math.max(0, at - startedAt) }
        if (type) tell({ ...of, type: 'seen' }, by)
      })
    },
    settling: () => (pending > 0 ? settled() : null),
    discard(record, by) {
      queued(async () => tell({ ...eventOf('discarded', record), at: Math.round(clock.now()) }, by))
    },
  }
}
