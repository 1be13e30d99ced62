import { setTimeout as after } from 'node:timers/promises'
import type { Database } from './database.ts'

/** What each version of the schema adds to the one before; what has been released is never changed. */
export const migrations: readonly string[] = [
  `
  create table fitting_room.visitors (
    store_id text not null,
    -- of the shopper's ID, as it may be long
    key bytea not null,
    data jsonb not null,
    primary key (store_id, key)
  );
  create table fitting_room.anonymous_visitors (
    store_id text not null,
    address bytea not null,
    visitor_id uuid not null,
    primary key (store_id, address)
  );
  create table fitting_room.credits (
    store_id text not null,
    -- one row would be locked by every submission of a store
    shard integer not null,
    used integer not null,
    primary key (store_id, shard)
  );
  create table fitting_room.jobs (
    id uuid primary key,
    state text not null,
    data jsonb not null
  );
  -- what is lost with the server, a minute later would not matter
  create unlogged table fitting_room.requests (
    address bytea primary key,
    at bigint[] not null,
    last_at bigint not null
  );
  create table fitting_room.secrets (
    name text primary key,
    value bytea not null
  );
  `,
  `
  create table fitting_room.photos (
    name text primary key,
    used_at bigint not null
  );
  create index on fitting_room.photos (used_at);
  alter table fitting_room.jobs
    add column accepted_at bigint not null generated always as ((data ->> 'acceptedAt')::bigint) stored;
  create index on fitting_room.jobs (accepted_at);
  `,
  `
  create table fitting_room.keys (
    store_id text primary key,
    -- of the key, as nobody need read it; null where the store is disconnected
    hash bytea
  );
  `,
  `
  create table fitting_room.stores (
    store_id text primary key,
    -- another one with every change
    version uuid not null,
    data jsonb not null
  );
  `,
  `
  -- what a command had said of its key before it was imported
  alter table fitting_room.stores add column had_key boolean not null default false, add column former_hash bytea;
  `,
  `
  -- as text, since most that is read of a job goes on as it is; without what only its making needs
  alter table fitting_room.jobs add column polled text not null generated always as ((data - '{
    product,photo,garment,variantId,test,funnelType,generationModel,provided,asked,credit
  }'::text[])::text) stored;
  -- each request changes its row where that stands, as long as there is room beside it
  alter table fitting_room.requests set (fillfactor = 50);
  `,
  `
  -- another one with everything that a command says of keys and stores: each request asks for that alone
  create table if not exists fitting_room.told (version uuid not null);
  truncate fitting_room.told;
  insert into fitting_room.told values (gen_random_uuid());
  create or replace function fitting_room.tell() returns trigger language plpgsql as $$
    begin
      update fitting_room.told set version = gen_random_uuid();
      if not found then
        insert into fitting_room.told values (gen_random_uuid());
      end if;
      return null;
    end
  $$;
  -- an older schema may have been put back beneath them
  drop trigger if exists tell on fitting_room.keys;
  drop trigger if exists tell on fitting_room.stores;
  create trigger tell after insert or update or delete or truncate on fitting_room.keys
    for each statement execute function fitting_room.tell();
  create trigger tell after insert or update or delete or truncate on fitting_room.stores
    for each statement execute function fitting_room.tell();
  `,
  `
  -- where changes are passed on to another server, a row without a key cannot be changed
  alter table fitting_room.schema_version drop constraint if exists schema_version_pkey, add primary key (version);
  alter table fitting_room.told drop constraint if exists told_pkey, add primary key (version);
  `,
  `
  -- the clients of each round of requests, by hashes of 16 bytes; a process of an earlier version still has a table of its own
  create unlogged table if not exists fitting_room.counted (
    number bigint primary key,
    at bigint not null,
    clients bytea not null
  );
  create or replace function fitting_room.count(
    clients bytea, moment bigint, out number bigint, out before bigint, out at bigint
  ) language plpgsql set enable_seqscan = off as $$
    -- what is planned while there are few rows stays so, and would read all of them later
    declare
      microseconds bigint;
    begin
      -- one after the other, whatever process they are of; what follows sees what those before have written
      perform pg_advisory_xact_lock(4702111, 1);
      microseconds := extract(epoch from clock_timestamp()) * 1000000;
      before := coalesce((select max(known.number) from fitting_room.counted as known), 0);
      -- by the time, as a server that falls loses them all
      number := greatest(before + 1, microseconds);
      at := coalesce(moment, microseconds / 1000);
      insert into fitting_room.counted values (number, at, clients);
    end
  $$;
  create or replace function fitting_room.counted_between(after bigint, until bigint, since bigint, most integer)
  returns table (number bigint, at bigint, clients text) language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off
  as $$
    begin
      return query select known.number, known.at, encode(known.clients, 'hex') from fitting_room.counted as known
        where known.number > after and known.number < until and known.at > since order by known.number limit most;
    end
  $$;
  `,
]

/** The number under which one process at a time changes the schema. */
const lockNumber = 4_702_111

/**
 * How long what is to be changed is waited for, in ms: twice as long with each try, since some transactions take their time.
 * Whoever wants it meanwhile waits behind that, so that it is left alone for many times as long.
 */
const firstLockMs = 200
const longestLockMs = 2_000
const timesAlone = 25
/** The code of what did not come in that time. */
const notCome = '55P03'
/** The code of what a role may not do. */
const notAllowed = '42501'

/** Brings the schema to this version; several processes may begin at once. Rejects where it is of a newer one. */
export async function migrate(database: Database, report: (error: unknown) => void = () => {}): Promise<void> {
  for (let lockMs = firstLockMs; ; lockMs = Math.min(2 * lockMs, longestLockMs)) {
    try {
      return await migrateNow(database, lockMs)
    } catch (error) {
      const { code, message } = Object(error)
      if (code === notAllowed)
        throw new Error(`the role of the database's address may do too little there: ${message}`, { cause: error })
      if (code !== notCome) throw error
      // a backup may have it for hours
      report(new Error('the schema is changed once others let go of its tables', { cause: error }))
      // several processes that try are not to do so one after the other
      await after(lockMs * timesAlone * (0.5 + Math.random()))
    }
  }
}

function migrateNow(database: Database, lockMs: number): Promise<void> {
  return database.transaction(async ({ query }) => {
    await query('select pg_advisory_xact_lock($1)', [lockNumber])
    const [encoding] = await query<{ server_encoding: string }>('show server_encoding')
    if (encoding?.server_encoding !== 'UTF8')
      throw new Error(`the database is in ${encoding?.server_encoding}; what shoppers write needs one in UTF8`)
    const [made] = await query<{ name: string | null }>(`select to_regclass('fitting_room.schema_version') as name`)
    // who may not create anything may use what stands
    if (!made?.name) {
      await query('create schema if not exists fitting_room')
      await query('create table fitting_room.schema_version (version integer not null)')
    }
    const [known] = await query<{ version: number }>('select version from fitting_room.schema_version')
    const version = known?.version ?? 0
    if (version > migrations.length)
      throw new Error(`the database is of version ${version}, and this service knows ${migrations.length} at the most`)
    if (version === migrations.length) return
    await query(`set local lock_timeout = ${lockMs}`)
    for (const migration of migrations.slice(version)) await query(migration)
    await query('delete from fitting_room.schema_version')
    await query('insert into fitting_room.schema_version values ($1)', [migrations.length])
  })
}
