import { withinLimit } from '../../src/platform/clock.ts'
import type { Clock } from '../../src/ports.ts'
import type { TryOnState } from '../../src/rules/words.ts'
import { postgresTables, type PostgresQueries } from '../storage/postgres-tables.ts'
import type { Items, Leaving, Order, RunnerEntry, Told } from './items.types.ts'

interface Row {
  id: string
  consent: string
  state: TryOnState
  is_ended: boolean
  told: string
  ordered: string
  visitor: string
  namespace: string
  left_for: Leaving | null
  begun_at: string | null
  job_id: string | null
  changed_at: number
}

/** How long a statement may take where no caller waits for it, in ms: on a connection that is half open none is answered. */
export const statementMs = 60_000
/** Which have ended, and somebody goes on with. */
const learntLate = "is_ended and state = 'outcomeUnknown' and job_id is not null"
/** For how long an upload is used again: the service keeps photos a day after their last use. */
const uploadHolds = '12 hours'
/** After how long it is looked whether a consent is in the queue. */
const queueingTakes = '5 seconds'
/** What is written at once may be seen in another order, for no longer than that. */
const overlapMs = 10_000

const nothingTold: Told = { attempt: null, result: null, problem: null, message: null }

function entryOf({ id, state, is_ended: isEnded, told, job_id: jobId }: Row): RunnerEntry {
  const { attempt, ...rest } = JSON.parse(told) as Told
  // a job may be known later than what is told of its attempt
  return { id, state, isEnded, attempt: attempt && { ...attempt, jobId: attempt.jobId ?? jobId }, ...rest }
}

/** For whoever carries them out: what may never be answered rejects. */
export function limitedItems(items: Items, clock: Clock): Items {
  const limited =
    (ask: (...given: never[]) => Promise<unknown>) =>
    (...given: never[]) =>
      withinLimit(clock, statementMs, ask(...given))
  return Object.fromEntries(Object.entries(items).map(([name, ask]) => [name, limited(ask)])) as unknown as Items
}

export function createItems(database: PostgresQueries, name: string): Items {
  const items = `${name}_items`
  const photos = `${name}_item_photos`
  const tables = {
    [items]: `id text collate "C" primary key, consent uuid not null, state text not null, is_ended boolean not null,
      told text not null, ordered text not null, photo text, visitor text not null, queued_at timestamptz,
      namespace uuid not null, left_for text, begun_at text, job_id text,
      changed_at timestamptz not null default clock_timestamp()`,
    [photos]: `hash text primary key, type text not null, bytes bytea not null, image_url text, uploaded_at timestamptz,
      used_at timestamptz not null`,
  }
  const { rows } = postgresTables(database, tables, {
    [items]: ['(changed_at)', '(changed_at) where not is_ended', '(photo)', `(id) where ${learntLate}`],
  })
  const epochOf = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`
  const columns = `id, consent, state, is_ended, told, ordered, visitor, namespace, left_for, begun_at, job_id, ${epochOf('changed_at')} as changed_at`

  /** Removes those photos that no item but that one names; whoever adds one meanwhile has used it since it was seen. */
  const dropUnused = (hashes: string, besides = "''") =>
    `delete from ${photos} as photo using ${photos} as seen
     where photo.hash in (${hashes}) and seen.hash = photo.hash and seen.used_at = photo.used_at
       and not exists (select 1 from ${items} as other where other.photo = photo.hash and other.id <> ${besides})`

  /** Of what is saved: that its consent has ended, as with an outcome that nobody knew, and it has not. */
  const isLate = 'is_ended and not $4::boolean'
  /** Where nothing was told of an attempt, which has a job now, that is. */
  const toldOf = (attempt: string) =>
    `case when told::jsonb->'attempt' = 'null' then (told::jsonb || jsonb_build_object('attempt', ${attempt}))::text else told end`
  const isUnclear = "state = 'outcomeUnknown' and left_for is distinct from 'discard'"

  const isFound = async (text: string, ...values: unknown[]) => (await rows(text, ...values)).length > 0

  const sweep = async (hash?: string) =>
    void (await (hash === undefined ? rows(dropUnused(`select hash from ${photos}`)) : rows(dropUnused('$1'), hash)))

  return {
    async add({ id, consent }, order, visitor, photo) {
      const hash = 'hash' in order.photo ? order.photo.hash : null
      const isAdded = await isFound(
        `with kept as (
           insert into ${photos} (hash, type, bytes, used_at)
           select $6, $7, $8, clock_timestamp() where $6::text is not null
           on conflict (hash) do update set used_at = excluded.used_at
         )
         insert into ${items} (id, consent, state, is_ended, told, ordered, visitor, photo, namespace)
         values ($1, $2, 'idle', false, $3, $4, $5, $6, $2) on conflict do nothing returning 1`,
        id,
        consent,
        JSON.stringify(nothingTold),
        JSON.stringify(order),
        visitor,
        hash,
        photo?.type ?? null,
        photo && new Uint8Array(photo.bytes),
      )
      if (!isAdded && hash !== null) await sweep(hash)
      return isAdded
    },
    async read(id) {
      const [row] = await rows<Row>(`select ${columns} from ${items} where id = $1`, id)
      if (!row) return null
      const { consent, visitor, namespace, left_for: leftFor, begun_at: begunAt, ordered } = row
      return { ...entryOf(row), consent, visitor, namespace, leftFor, begunAt, order: JSON.parse(ordered) as Order }
    },
    all: async () => (await rows<Row>(`select ${columns} from ${items} order by id`)).map(entryOf),
    isAnyOpen: () => isFound(`select 1 from ${items} where not is_ended limit 1`),
    stands: ({ id, consent }) =>
      isFound(`select 1 from ${items} where id = $1 and consent = $2 and not is_ended`, id, consent),
    async begin({ id, consent }, baseUrl) {
      const [row] = await rows<Pick<Row, 'begun_at'>>(
        `update ${items} set begun_at = coalesce(begun_at, $3)
         where id = $1 and consent = $2 and not is_ended and job_id is null returning begun_at`,
        id,
        consent,
        baseUrl,
      )
      return row?.begun_at ?? null
    },
    isNamed: ({ id, namespace }) => isFound(`select 1 from ${items} where id = $1 and namespace = $2`, id, namespace),
    unqueued: () =>
      rows(
        `select id, consent from ${items}
         where not is_ended and queued_at is null and changed_at < clock_timestamp() - interval '${queueingTakes}' limit 200`,
      ),
    queued: async ({ id, consent }) =>
      void (await rows(
        `update ${items} set queued_at = clock_timestamp() where id = $1 and consent = $2`,
        id,
        consent,
      )),
    save: async ({ id, consent }, { state, isEnded, ...told }) =>
      void (await rows(
        `update ${items} set state = case when ${isLate} then state else $3::text end, is_ended = is_ended or $4::boolean,
           told = case when ${isLate} then ${toldOf("$5::text::jsonb->'attempt'")} else $5::text end, job_id = coalesce($6, job_id), changed_at = clock_timestamp()
         where id = $1 and consent = $2 and (job_id is null or $6::text is not null)
           and (not is_ended or ${isUnclear} and $6 is not null)
           and (job_id is distinct from $6 or not (${isLate}) and (state, is_ended, told) is distinct from ($3, $4, $5::text))`,
        id,
        consent,
        state,
        isEnded,
        JSON.stringify(told),
        told.attempt?.jobId ?? null,
      )),
    async learn({ id, consent }, attempt) {
      const isNew = await isFound(
        `update ${items} set job_id = $3, told = ${toldOf('$4::text::jsonb')},
           changed_at = case when is_ended then clock_timestamp() else changed_at end
         where id = $1 and consent = $2 and job_id is null and (not is_ended or ${isUnclear}) returning 1`,
        id,
        consent,
        attempt.jobId,
        JSON.stringify(attempt),
      )
      return isNew || isFound(`select 1 from ${items} where id = $1 and job_id = $2`, id, attempt.jobId)
    },
    goOnLate: async () =>
      void (await rows(
        `update ${items} set consent = gen_random_uuid(), is_ended = false, queued_at = null, changed_at = clock_timestamp()
         where ${learntLate} and left_for is distinct from 'discard'`,
      )),
    leave: ({ id, consent, attempt }, what) =>
      isFound(
        `update ${items} set left_for = $3
         where id = $1 and consent = $2 and is_ended and ($3 = 'discard' or left_for is distinct from 'discard')
           and job_id is not distinct from $4 returning 1`,
        id,
        consent,
        what,
        attempt?.jobId ?? null,
      ),
    again: ({ id, consent, attempt }, next) =>
      isFound(
        `update ${items} set consent = $3, namespace = $3, state = 'idle', is_ended = false, left_for = null, begun_at = null, job_id = null, told = $4,
           queued_at = null, changed_at = clock_timestamp()
         where id = $1 and consent = $2 and left_for = 'retry' and job_id is not distinct from $5 returning 1`,
        id,
        consent,
        next.consent,
        JSON.stringify(nothingTold),
        attempt?.jobId ?? null,
      ),
    goOn: ({ id, consent }, next) =>
      isFound(
        `update ${items} set consent = $3, is_ended = false, left_for = null, queued_at = null, changed_at = clock_timestamp()
         where id = $1 and consent = $2 and is_ended and left_for is distinct from 'discard' returning 1`,
        id,
        consent,
        next.consent,
      ),
    // at once with its photo, which nothing names afterwards
    remove: ({ id, consent }) =>
      isFound(
        `with gone as (delete from ${items} where id = $1 and consent = $2 and left_for = 'discard' returning photo),
         unused as (${dropUnused('select photo from gone', '$1')})
         select 1 from gone`,
        id,
        consent,
      ),
    sweep,
    async changedSince(at) {
      const changed = await rows<Row>(
        `select ${columns} from ${items} where changed_at > to_timestamp($1::float8 / 1000) order by changed_at`,
        at - overlapMs,
      )
      return changed.map((row) => ({ entry: entryOf(row), changedAt: row.changed_at }))
    },
    async now() {
      const [{ now } = { now: 0 }] = await rows<{ now: number }>(`select ${epochOf('clock_timestamp()')} as now`)
      return now
    },
    async photo(hash) {
      const [found] = await rows<{ type: string; image_url: string | null; bytes: Uint8Array | null }>(
        `select type, known.image_url, case when known.image_url is null then bytes end as bytes from ${photos},
         lateral (
           select case when uploaded_at > clock_timestamp() - interval '${uploadHolds}' then image_url end as image_url
         ) as known
         where hash = $1`,
        hash,
      )
      if (!found) return null
      if (found.image_url !== null) return { imageUrl: found.image_url }
      return { type: found.type, bytes: new Uint8Array(found.bytes ?? []).buffer }
    },
    uploaded: async (hash, imageUrl) =>
      void (await rows(
        `update ${photos} set image_url = $2, uploaded_at = clock_timestamp() where hash = $1`,
        hash,
        imageUrl,
      )),
  }
}
