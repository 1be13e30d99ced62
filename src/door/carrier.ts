import type { Clock } from '../ports.ts'
import { stopped } from '../rules/try-on-error.ts'
import type { Core } from '../room.types.ts'
import type { Seen } from './look.ts'
import type { Resets, Wiped } from './resets.ts'
import type { Watch } from './watch.ts'

/** What a room knows of its shopper, and of what may have taken them away. */
interface Surroundings {
  clock: Clock
  /** Another one after each time that the room was closed, which rejects then. */
  life: () => Promise<never>
  watch: Pick<Watch, 'look' | 'ear'>
  /** Another one for each shopper that this page knows of. */
  shopper: () => unknown
  resets: Pick<Resets, 'wiped' | 'others'>
}

/** Who has said something, and what was known then. */
export interface Speaker {
  life: unknown
  shopper: unknown
  /** What storage held then; null where this room was about to wipe it. */
  seen: Promise<Seen> | null
  others: number
  wiped: Promise<Wiped> | null
  ear: object | null
}

/** Carries what is said over the time that the core takes to load. */
export interface Carrier {
  sayNow(): Speaker
  /**
   * Gives it to the core once that is there and what was said `before` it is done, and runs what `say` makes of it there as
   * of now, for the shopper who says it, or has said it, and saw that attempt. Rejects where that one has gone, or may have.
   */
  carry<T>(
    opening: Promise<Core>,
    say: (core: Core) => () => T | Promise<T>,
    by?: Speaker,
    saw?: string | null,
    before?: Promise<unknown> | null,
  ): Promise<T>
}

export function createCarrier({ clock, life, watch, shopper, resets }: Surroundings): Carrier {
  const sayNow = (): Speaker => ({
    life: life(),
    shopper: shopper(),
    seen: resets.wiped() ? null : watch.look(),
    others: resets.others(),
    wiped: resets.wiped(),
    ear: watch.ear(),
  })

  /** What may have become of the shopper who said it, while it waited. */
  function check(by: Speaker, seen: Seen | null, wiped: Wiped | null): void {
    // what was heard since tells of resets that came before storage was read, or was wiped
    const isHeard = by.others !== (wiped?.others ?? resets.others())
    if (isHeard || by.shopper !== shopper()) throw stopped('startedOver')
    // a page that was put away has heard nothing, and where storage could not be read nobody can tell
    const isMissed = seen && !seen.epochs && by.ear !== watch.ear()
    if (isMissed || by.life !== life()) throw stopped('closed')
  }

  return {
    sayNow,
    async carry(opening, say, by = sayNow(), saw, before) {
      // in epoch ms, and on the monotonic clock
      const at = [clock.now(), clock.monotonic()] as const
      const [core, seen, wiped] = await Promise.all([opening, by.seen, by.wiped])
      await before
      check(by, seen, wiped)
      // a machine that sleeps stops one of the two
      const agoMs = Math.max(0, clock.now() - at[0], clock.monotonic() - at[1])
      return core.said(agoMs, (wiped ?? seen)?.epochs ?? null, say(core), saw, by.ear !== watch.ear())
    },
  }
}
