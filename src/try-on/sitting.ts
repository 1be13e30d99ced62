import type { Ownership } from '../pages/ownership.ts'
import { takeSeat, type Seat } from '../pages/seat.ts'
import { withinLimit } from '../platform/clock.ts'
import type { Clock } from '../ports.ts'
import type { Attempts } from '../records/attempts.ts'
import { mayBePaid } from '../rules/copies.ts'
import type { Company } from './company.ts'
import type { Runner } from './runner.ts'

/** How long what is being written, or may be lost, is waited for, in ms. */
const writingMs = 5_000

/** The seat of this page in a try-on: it is taken at the first use, and anew where it was lost. */
export interface Sitting {
  seat(): Seat<Runner> | null
  /** Where it was taken. */
  place(): string
  /** Whether that is where the pages of this storage wait, as far as is known by now. */
  isPlaced(): boolean
  isCurrent(one: Seat<Runner>): boolean
  /** Whether it was given up for another page in the middle of whatever was going on: what this one was writing may land yet. */
  wasGivenUp(one: Seat<Runner>): boolean
  /** The seat, which is taken where there is none; throws `TryOnError` of kind `input` where the address is none. */
  sit(): Seat<Runner>
  /** Leaves the seat for another one, at the end of the line, where somebody is looking. */
  sitAgain(): void
  /** Resolves once it is known where to sit: which pages share this storage, and what is there, may not have been. */
  findPlace(): Promise<void>
  /** Pages of one storage that did not know it yet come together. */
  moveOver(): void
  /** Stops at once, and lets go once what it is writing is written, and after `until`; whoever waits for the flow is told `why`. */
  leave(why: Error, isFreezing?: boolean, until?: Promise<unknown> | null): void
}

interface SittingParts {
  clock: Clock
  attempts: Pick<Attempts, 'dropShared' | 'rescue' | 'underWay'>
  ownership: Ownership
  name: () => string
  /** Storage has been read; called at the first use. */
  open: () => Promise<void>
  /** Reads storage again where it could not be read; resolves with whether it could be now. */
  reopen: () => Promise<boolean>
  /** What another page may have changed is read again, before this page takes over. */
  refresh: () => Promise<void>
  run: (seat: () => Seat<Runner>) => Runner
  /** Another page has it from now on: what only this one has is written, or is owed. */
  keep: () => void
  isWatched: () => boolean
  company: () => Pick<Company, 'isElsewhere' | 'wait' | 'leave' | 'haveLook'>
  closed: () => Error
}

export function createSitting(parts: SittingParts): Sitting {
  const { clock, attempts, ownership, name, company, closed } = parts
  let seat: Seat<Runner> | null = null
  let place = ''
  const givenUp = new WeakSet<Seat<Runner>>()
  /** What was lost with the seat before is written before storage is read again. */
  let rescuing: Promise<unknown> | null = null
  /** What is said before a place is found waits for the same one. */
  let placing: Promise<void> | null = null

  const placeNow = () => ownership.placeOf(name())
  const isPlaced = () => place === placeNow()

  /** Nothing runs before the first use: a try-on on a product card costs nothing. */
  function sit(): Seat<Runner> {
    if (seat) return seat
    // an address that is none is told to whoever asks first
    name()
    const taken: Seat<Runner> = takeSeat({
      ready: () => (rescuing ? rescuing.then(parts.open) : parts.open()),
      request(turns) {
        place = placeNow()
        return ownership.request(place, { ...turns, isElsewhere: company().isElsewhere })
      },
      refresh: parts.refresh,
      isMisplaced: () => !isPlaced(),
      start: () => parts.run(() => taken),
      stop: (runner) => runner.stop(),
      onWait: () => company().wait(taken),
      onLose: lose,
    })
    seat = taken
    return taken
  }

  function leave(why: Error, isFreezing = false, until: Promise<unknown> | null = null): void {
    const left = seat
    seat = null
    if (left && isFreezing) givenUp.add(left)
    company().leave()
    attempts.dropShared()
    // a page that is being frozen finishes nothing; what another one reads is what this one has written
    const writing = isFreezing ? null : attempts.underWay()
    const written = writing && withinLimit(clock, writingMs, writing).catch(() => undefined)
    left?.end(why, isFreezing, until && written ? Promise.allSettled([until, written]) : (until ?? written))
  }

  function sitAgain(): void {
    if (seat) givenUp.add(seat)
    parts.keep()
    const writing = attempts.underWay()
    leave(closed())
    if (parts.isWatched()) sit()
    // what it writes lands behind the back of whoever runs the try-on by now
    void writing?.then(company().haveLook)
  }

  /** Another page has taken over meanwhile, and may have gone again. */
  function lose(): void {
    rescue()
    sitAgain()
  }

  function rescue(): void {
    const record = seat?.runner?.getSnapshot().context.record
    // a picture may be in memory only, too
    if (record && mayBePaid(record))
      rescuing = withinLimit(clock, writingMs, attempts.rescue(record)).catch(() => undefined)
  }

  async function look(taken: Seat<Runner>): Promise<void> {
    const isReadAnew = await Promise.race([parts.reopen(), taken.ended])
    if (seat !== taken || (!isReadAnew && isPlaced())) return
    // what was begun meanwhile stands before what there is is read
    rescue()
    parts.keep()
    leave(closed())
  }

  return {
    seat: () => seat,
    place: () => place,
    isPlaced,
    isCurrent: (one) => seat === one,
    wasGivenUp: (one) => givenUp.has(one),
    sit,
    sitAgain,
    findPlace: () => (placing ??= look(sit()).finally(() => (placing = null))),
    moveOver() {
      if (seat?.runner && !isPlaced()) sitAgain()
    },
    leave,
  }
}
