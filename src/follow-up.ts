import { resultIn } from '../machines/try-on.view.ts'
import { digitsOf, isHttpUrl } from './contract/forms.ts'
import { createLoader } from './loader.ts'
import { withinLimit } from './platform/clock.ts'
import { report } from './platform/guarded.ts'
import { quiet } from './platform/quiet.ts'
import type { TabMessage } from './pages/tabs.ts'
import type { Fetch, SteadyClock } from './ports.ts'
import { keepInArchive, type RecordCell } from './records/archive.ts'
import type { Catalog } from './records/catalog.ts'
import type { Shopper } from './records/epochs.ts'
import type { Journal } from './records/journal.ts'
import type { Keys } from './records/keys.ts'
import type { Variant } from './records/names.ts'
import type { BoundedPhotoStore } from './records/photo-store.ts'
import { learnTexts } from './rules/explain.ts'
import { problemOf, type Problem } from './rules/problem.ts'
import { recordOfPoll, type AttemptRecord } from './rules/record.ts'
import { stopped, TryOnError } from './rules/try-on-error.ts'
import type { AttemptView } from './rules/view.ts'
import type { Errands } from './shopper/errands.ts'
import type { VisitorStore } from './shopper/visitor.ts'
import { createTelling, type Teller, type Telling } from './telling.ts'
import type { Pictures } from './try-on/pictures.ts'
import type { RoomClient } from './wire/room-client.ts'

/** How long another page may have to wait until it is noted what this one has told, in ms. */
const noteLimitMs = 5_000

interface FollowUpParts {
  catalog: Catalog
  journal: Journal
  keys: () => Keys
  store: BoundedPhotoStore
  clock: SteadyClock
  retentionMs: number
  archiveOf: (attemptId: string) => RecordCell
  client: RoomClient
  errands: Errands
  visitor: VisitorStore
  fetch: Fetch
  /** Whether pictures are kept. */
  keeps: boolean
  /** Has every try-on of the room say where it stands. */
  standAll: () => void
  /** Has something done a while later: in a closed room only what is owed. */
  later: (run: () => void, isOwed?: boolean) => void
  post: (message: TabMessage) => void
}

/** What a room does once there is a job: it tells of it, keeps its pictures and makes its ticket. The code for that is loaded then. */
interface FollowUp extends Pick<Telling, 'on'> {
  /** Those who listen, and whatever keeps pictures. */
  watching: Teller
  /** What knows of pictures; where it could not be loaded it is tried again. */
  pictures(): Promise<Pictures>
  /** Removes what is kept of an attempt's pictures; resolves with whether it is gone. */
  dropPictures(attemptId: string): Promise<boolean>
  ticketOf(of: Variant, attempt: AttemptView | null): Promise<string>
  /** Takes the job of a ticket into the archive, and tells other pages of it; `ready` settles once storage was read. */
  claim(
    ticket: string,
    by: Shopper,
    ready: Promise<void>,
    hasJob: (jobId: string) => Promise<boolean>,
  ): Promise<{ key: string; record: AttemptRecord }>
}

export function createFollowUp(parts: FollowUpParts): FollowUp {
  const { catalog, keys, store, clock, keeps, standAll, later, post } = parts
  let knowing: Promise<Pictures> | null = null
  const load = createLoader(() => import('./afterwards/afterwards.ts'), clock)

  /** What few pages ask for, and none before there is a job. */
  async function afterwards() {
    const part = await load()
    const { ticketTexts, pictureTexts } = part
    learnTexts({ ticket: ({ reason }) => ticketTexts[reason], picture: ({ reason }) => pictureTexts[reason] })
    return part
  }

  const telling = createTelling(async (tell, isHeard) => {
    const { createTeller } = await afterwards()
    return createTeller({ ...parts, key: () => keys().told, digitsOf, tell, isHeard, report })
  }, standAll)

  function pictures(): Promise<Pictures> {
    const errorOf = (problem: Problem) => new TryOnError(problem)
    knowing ??= afterwards().then(({ createPictures }) =>
      createPictures({ ...parts, isHttpUrl, withinLimit, recordOfPoll, resultIn, problemOf, errorOf }),
    )
    knowing.catch(() => (knowing = null))
    return knowing
  }

  return {
    on: telling.on,
    pictures,

    watching: {
      settling() {
        const settling = telling.settling()
        return settling && withinLimit(clock, noteLimitMs, settling).catch(() => undefined)
      },
      stand(stand) {
        telling.stand(stand)
        if (!keeps || !stand.record || !stand.view.attempt) return
        void quiet(pictures().then((known) => known.keep(stand.view, stand.by)))
      },
      discard: telling.discard,
    },

    /** Whatever this room keeps, another one may have kept them. */
    async dropPictures(attemptId) {
      const listed = await catalog.entries().catch(() => null)
      const of = (['preview', 'final'] as const).map((which) => keys().picture(attemptId, which))
      const gone = await Promise.all(of.filter((key) => !listed || key in listed).map(store.strikeOut))
      return !gone.includes(false)
    },

    async ticketOf(of, attempt) {
      const { ticketOf } = await afterwards()
      if (!attempt?.jobId) throw new TryOnError({ kind: 'ticket', reason: 'noJob' })
      const [productId, variantId] = [digitsOf(of.productId), digitsOf(of.variantId)]
      return ticketOf(keys().room, { productId, variantId, jobId: attempt.jobId, startedAt: attempt.startedAt })
    },

    async claim(ticket, by, ready, hasJob) {
      const [{ claim }] = await Promise.all([afterwards(), ready])
      const claimed = await claim(ticket, by, { ...parts, room: keys().room, hasJob })
      if (claimed === 'gone') throw stopped('startedOver')
      if (claimed === 'unreadable') throw new TryOnError({ kind: 'recordUnreadable' })
      if (typeof claimed === 'string') throw new TryOnError({ kind: 'ticket', reason: claimed })
      const { cell, record, durable } = claimed
      // nobody else writes it before somebody opens it
      const keep = async () => {
        const kept = await keepInArchive(parts, record, by, false)
        if (kept === 'memory') later(keep, true)
        if (kept === 'stored') tell(true)
      }
      const tell = (isKept: boolean) => post({ type: 'lateAnswer', name: cell.key, record, durable: isKept })
      if (!durable) later(keep, true)
      tell(durable)
      return { key: cell.key, record }
    },
  }
}
