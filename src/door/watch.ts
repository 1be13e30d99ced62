import type { Clock, FlowStorage } from '../ports.ts'
import type { Names } from '../records/names.ts'
import type { Entry } from './entry.ts'
import { listenTo } from './listen.ts'
import { lookInto, unclear, type Seen } from './look.ts'

/** What a page knows of its room without the core: what storage was seen to hold, and what other pages have said since. */
export interface Watch {
  /** What storage was seen to hold since the last reset() that this page knows of. */
  look(): Promise<Seen>
  /** Forgets what was seen: whoever is watched looks once more. */
  lookAnew(): void
  isLooking(): boolean
  /** Whether something may be kept under that key. */
  mayHold(key: string): Promise<boolean>
  /** Listens to other pages; throws where there is no usable address. */
  listen(): void
  /** What hears other pages; another one, or null, where something may have been missed. */
  ear(): object | null
  /** Whatever others have said was of a shopper who has gone. */
  forget(): void
  /** Of a room that was closed each card that is watched waits for its next use. */
  beUsedAgain(): void
  close(): void
}

interface WatchParts {
  storage: FlowStorage | undefined
  clock: Clock
  names: () => Names
  /** Whether other pages can know of what this one keeps. */
  durable: boolean
  entry: Entry
  /** What this room's own reset() wipes; null where none is under way. */
  wiping: () => Promise<void> | null
  /** Takes note of a reset that a page tells of; false where it is this room's own. */
  note: (epochs: unknown) => boolean
  /** Whether somebody watches one of the core's stores. */
  isWatched: () => boolean
  /** What is there may have changed. */
  onChange: () => void
  /** The shopper has gone, another page says. */
  onReset: () => void
}

export function createWatch(parts: WatchParts): Watch {
  const { storage, clock, names, entry, onChange } = parts
  const { life } = entry
  let looking: Promise<Seen> | null = null
  let listening: ReturnType<typeof listenTo> | null = null
  /** The records that other pages have said to be at since. */
  const heard = new Set<string>()
  /** Whether the room was closed, and not used since. */
  let wasClosed = false

  function beUsedAgain(): void {
    if (!wasClosed) return
    wasClosed = false
    onChange()
  }

  const look = (): Promise<Seen> => looking ?? lookFrom(begin())

  function lookFrom(begun: Promise<Seen>): Promise<Seen> {
    looking = begun
    beUsedAgain()
    // an address that is none now may be one later, and storage may be read then
    const again = () => looking === begun && (looking = null)
    begun.then((seen) => seen === unclear && again(), again)
    return begun
  }

  async function begin(): Promise<Seen> {
    listen()
    const begun = life()
    const seen = await lookInto(storage, names(), clock)
    const sweep = () => begun === life() && void entry.open()
    if (seen.isDue) (globalThis.requestIdleCallback ?? setTimeout)(sweep)
    // what its stores have shown since before the room was closed may be a former shopper's
    if (entry.core() && !entry.opened() && parts.isWatched()) sweep()
    return seen
  }

  function lookAnew(): void {
    const begun = life()
    const once = () => (begun === life() ? begin() : unclear)
    looking = null
    // who comes now is seen once they are wiped
    const wiping = parts.wiping()
    if (wiping) void lookFrom(wiping.then(once, once))
    onChange()
  }

  function listen(): void {
    if (!parts.durable || listening?.hears()) return
    listening?.end()
    listening = listenTo(names().room, {
      onReset(epochs) {
        // once it is open the core hears it itself, and what it says of its own
        if (parts.note(epochs) && !(entry.core() && entry.isWanted())) parts.onReset()
      },
      onAttempt(name) {
        heard.add(name)
        onChange()
      },
      onShow: lookAnew,
    })
  }

  return {
    look,
    lookAnew,
    isLooking: () => looking !== null,
    mayHold: async (key) => (await look()).mayHold(key) || heard.has(key),
    listen,
    ear: () => (listening?.hears() ? listening : null),
    forget: () => heard.clear(),
    beUsedAgain,
    close() {
      listening?.end()
      listening = null
      looking = null
      wasClosed = true
    },
  }
}
