import * as is from '../../src/contract/schema.ts'
import { followPageLife } from '../../src/pages/page-life.ts'
import { askWithin, steadyClock, withinLimit } from '../../src/platform/clock.ts'
import { deferred } from '../../src/platform/deferred.ts'
import { report } from '../../src/platform/guarded.ts'
import { forgetLastMatch } from '../../src/platform/last-match.ts'
import { quiet } from '../../src/platform/quiet.ts'
import { systemClock } from '../../src/platform/system-clock.ts'
import { createValue } from '../../src/platform/value.ts'
import type { Readable } from '../../src/ports.ts'
import type { FittingRoom, HistoryEntry } from '../../src/room.types.ts'
import { check } from '../../src/rules/check.ts'
import type { Problem } from '../../src/rules/problem.ts'
import { isTryOnError } from '../../src/rules/try-on-error.ts'
import { keptValue, type DeviceOptions } from './kept.ts'
import { createLifetime } from './lifetime.ts'
import type { DeviceLimits } from './limits.ts'
import { marksOf } from './marks.ts'
import { keepDisplayOn, missingHere, onceOpened, watchPage, type Missing } from './page.ts'

/** All times in ms. */
export interface SessionOptions extends DeviceOptions {
  /** How long without activity until the session ends. Default: 60,000. */
  idleMs?: number | undefined
  /** How long before its end the session warns. Default: 15,000. */
  warnMs?: number | undefined
  /** How long after the last activity a running job or a new picture may hold the session. Default: 300,000. */
  holdMs?: number | undefined
  /**
   * Calls `onActivity` at each activity, which returns whether it came in time; returns a function that stops it. What
   * only lasts, such as a key that is held (`isHeld`), keeps no session. Default: touches, keys and the wheel on the
   * page, but not scrolling.
   */
  watch?: ((onActivity: (isHeld?: boolean) => boolean) => () => void) | undefined
  /** Whether the display is kept on, where the browser can. Default: true. */
  keepAwake?: boolean | undefined
  /** The room's `limit`; the session has it count anew for each shopper. */
  limits?: DeviceLimits | undefined
}

/**
 * `restoring`: storage is being read. `ready`: nobody is there. `active`: a shopper is. `warning`: the session ends in
 * `secondsLeft` unless somebody is active. `ending`: the shopper's data is being wiped. `locked`: some could not be
 * wiped, so no session begins; the wipe is tried again at `nextTryAt`, in epoch ms.
 */
export type SessionView =
  | { state: 'restoring' | 'ready' | 'active' | 'ending' }
  | { state: 'warning'; secondsLeft: number }
  | { state: 'locked'; problem: Problem; nextTryAt: number }

/** The sessions of one device, one shopper after another. */
export interface Session extends Readable<SessionView> {
  /**
   * Aborts when the session of the shopper who is there, or comes next, begins to end; each session has a new one. End
   * with it whatever the page waits for on a shopper's behalf.
   */
  readonly signal: AbortSignal
  /** What this page cannot do. */
  readonly missing: readonly Missing[]
  /** Begins a session if the state is `ready`: a shopper is there. */
  begin(): void
  /** Reports activity that the page cannot see. */
  touch(): void
  /** Wipes the shopper's data; if that rejects, as `room.reset()` does, it is `locked` until a later try succeeds. */
  end(): Promise<void>
  /** Stops watching; what is kept stays. */
  close(): void
}

/** How long after a failure it is tried again, in ms. */
const firstRetryMs = 5_000
const longestRetryMs = 60_000
/** How long a touch may take to become a press, in ms: what it presses must not be gone before. */
const pressMs = 500
/** How often it looks at the least, in ms: a device that slept wakes with the screen of before. */
const lookMs = 5_000
/** How long the wipe, and what a load begins with, may take, in ms, before that counts as failed. */
const longestWipeMs = 60_000
/** How long the limits may take to hear of the next shopper, in ms. */
const longestCountMs = 10_000

/**
 * Gives each shopper of a room a session, which ends when nobody is active, with `room.reset()`. After a power cut it
 * resumes if it would not have ended in the meantime; otherwise it begins with the wipe. Throws `TryOnError` of kind
 * `input` unless `warnMs` < `idleMs` <= `holdMs`.
 */
export function createSession(room: FittingRoom, options: SessionOptions = {}): Session {
  const { idleMs = 60_000, warnMs = 15_000, holdMs = Math.max(300_000, idleMs), name = 'default', limits } = options
  check(Number.isFinite(idleMs) && idleMs > 0, 'idleMs', idleMs, 'a number of ms above 0')
  check(Number.isFinite(warnMs) && warnMs >= 0 && warnMs < idleMs, 'warnMs', warnMs, 'a number of ms less than idleMs')
  check(Number.isFinite(holdMs) && holdMs >= idleMs, 'holdMs', holdMs, 'a number of ms, at least idleMs')
  const clock = steadyClock(options.clock ?? systemClock)
  const kept = keptValue(options, clock, 'session', is.object({ activeAt: is.number }))
  const lifetime = createLifetime(clock, kept, { idleMs, holdMs })
  const marks = marksOf(name)
  const view = createValue<SessionView>({ state: 'restoring' })
  let failures = 0
  /** Whether the limits know that it is somebody else. */
  let isCounted = true
  let timer: unknown
  let ending: Promise<void> | null = null
  let isClosed = false
  let visit = new AbortController()

  const isOn = () => !isClosed && (view.get().state === 'active' || view.get().state === 'warning')

  function later(run: () => void, ms: number): void {
    clock.clearTimeout(timer)
    if (!isClosed) timer = clock.setTimeout(run, ms)
  }

  /** Where the session stands by now, and when that is to be asked again. */
  function look(): void {
    if (!isOn()) return
    const leftMs = lifetime.leftMs()
    if (leftMs <= 0) return void end()
    const secondsLeft = Math.ceil(leftMs / 1_000)
    const isNear = leftMs <= warnMs
    view.set(isNear ? { state: 'warning', secondsLeft } : { state: 'active' })
    later(look, isNear ? leftMs - (secondsLeft - 1) * 1_000 : Math.min(leftMs - warnMs, lookMs))
  }

  function begin(): void {
    if (view.get().state !== 'ready' || isClosed) return
    if (!isCounted) void count()
    lifetime.noteActivity()
    view.set({ state: 'active' })
    look()
  }

  /** Whether it came in time: who comes too late is not the shopper whose session it was. */
  function isInTime(): boolean {
    if (lifetime.leftMs() > 0) return true
    look()
    return false
  }

  function touch(): void {
    if (!isOn() || !isInTime()) return
    lifetime.noteActivity()
    look()
  }

  /** As `touch`, but what is shown changes once the touch has come to its end. */
  function hearPage(isHeld = false): boolean {
    if (!isOn()) return true
    if (!isInTime()) return false
    if (isHeld) return true
    lifetime.noteActivity()
    if (view.get().state === 'warning') later(look, pressMs)
    else look()
    return true
  }

  function hear(entries: readonly HistoryEntry[]): void {
    lifetime.hear(entries)
    // somebody is at it whom nobody has announced
    if (entries.length > 0) begin()
    look()
  }

  async function wipe(): Promise<void> {
    clock.clearTimeout(timer)
    const former = visit
    visit = new AbortController()
    former.abort()
    if (view.get().state !== 'locked') view.set({ state: 'ending' })
    // a load from here on begins with the wipe
    marks.lock(true)
    const forgotten = lifetime.forget().catch(() => undefined)
    try {
      // what is under way ends now, whatever the device's own storage does
      await withinLimit(clock, longestWipeMs, room.reset())
      await forgotten
    } catch (error) {
      lock(isTryOnError(error) ? error.problem : { kind: 'internal', sent: false })
      throw error
    }
    await count()
    forgetLastMatch()
    marks.lock(false)
    failures = 0
    if (isClosed) return
    // whoever hears of it may begin, and end, at once
    ending = null
    lifetime.take(room.history.get())
    view.set({ state: 'ready' })
    countLater()
    hear(room.history.get())
    // given while it ended
    if (room.photo.get()) begin()
  }

  /** The next shopper's places are their own. */
  async function count(): Promise<void> {
    await askWithin(clock, longestCountMs, () => limits?.nextShopper()).then(
      () => (isCounted = true),
      (error: unknown) => {
        // once is enough for as long as it lasts
        if (isCounted) report(error)
        isCounted = false
      },
    )
  }

  /** Which attempts were whose is nobody's business while nobody is there. */
  function countLater(): void {
    if (!isCounted && view.get().state === 'ready') later(() => void count().then(countLater), firstRetryMs)
  }

  function lock(problem: Problem): void {
    const retryMs = Math.min(firstRetryMs * 2 ** failures++, longestRetryMs)
    view.set({ state: 'locked', problem, nextTryAt: clock.now() + retryMs })
    later(end, retryMs)
  }

  function end(): Promise<void> {
    if (ending) return ending
    const { promise, resolve, reject } = deferred()
    // whoever hears of it may ask for it, too
    const own = (ending = quiet(promise))
    void wipe()
      .finally(() => ending === own && (ending = null))
      .then(resolve, reject)
    return own
  }

  /** Takes up what is kept, where it was not written by a browser that has ended since: what that had last may be lost. */
  async function restore(hasRun: boolean): Promise<void> {
    const found = marks.isLocked() ? Infinity : await lifetime.agoMs()
    // else it may be of a session that has ended since
    const ago = hasRun || kept.isOnDisk() ? found : Infinity
    const listed = ago === Infinity ? null : withinLimit(clock, longestWipeMs, room.list())
    const entries = (await listed?.catch(() => null)) ?? null
    // its end was asked for meanwhile
    if (view.get().state !== 'restoring' || isClosed) return
    // where nothing of a shopper is there, the one before was being wiped, or has left nothing to go on with
    if (entries === null || (entries.length === 0 && room.photo.get() === null)) return end()
    lifetime.takeUp(ago, entries)
    if (lifetime.leftMs() <= 0) return end()
    view.set({ state: 'active' })
    look()
  }

  /** Another page of the device may have the session until this one comes back. */
  function putAway(): void {
    if (!isOn()) return
    clock.clearTimeout(timer)
    view.set({ state: 'restoring' })
  }

  const takeUp = (hasRun: boolean) => {
    if (view.get().state === 'restoring' && !isClosed) void quiet(restore(hasRun))
  }

  const stopHearing = room.history.subscribe((entries) => view.get().state !== 'restoring' && hear(entries))
  // whoever has given it is there, though nothing has come of it
  const stopSeeing = room.photo.subscribe((photo) => photo && begin())
  const stopWatching = (options.watch ?? watchPage)(hearPage)
  const letDisplayGo = options.keepAwake === false ? () => {} : keepDisplayOn()
  const stopFollowing = followPageLife({ onWake: look, onHide: putAway, onShow: () => takeUp(true) })
  onceOpened(() => takeUp(marks.hasRun))

  return {
    get signal() {
      return visit.signal
    },
    missing: missingHere(options.storage !== undefined),
    initial: view.initial,
    get: view.get,
    subscribe: view.subscribe,
    begin,
    touch,
    end,
    close() {
      isClosed = true
      clock.clearTimeout(timer)
      stopHearing.unsubscribe()
      stopSeeing.unsubscribe()
      stopWatching()
      stopFollowing()
      letDisplayGo()
    },
  }
}
