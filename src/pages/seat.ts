import { deferred } from '../platform/deferred.ts'
import type { Hold, Turns } from './ownership.ts'

/** This page's part in a try-on: it runs the flow, or it waits and shows what the page that runs it shows. */
export interface Seat<Runner> {
  /** What runs the flow here; null while another page does, or while that is not known. */
  readonly runner: Runner | null
  /** Whether another page is known to run it. */
  readonly isWaiting: boolean
  /** Settles once it is known who runs it. */
  readonly decided: Promise<void>
  /** Settles once this page does. */
  readonly owned: Promise<void>
  /** Rejects with what was given to `end` when this page lets go of the try-on. */
  readonly ended: Promise<never>
  /** Looks once more whether the flow is this page's. */
  confirm(): Promise<boolean>
  /** Whether no other page can be seen to run it: enough to stop it, and not to submit. */
  isUntaken(): Promise<boolean>
  /** Whether this page's hold on it was ever confirmed. */
  isProven(): boolean
  /** Whether this page still holds it; true where storage cannot say. */
  isStill(): Promise<boolean>
  /** Whether that is so without a look. */
  isFresh(): boolean
  /** The flow stops at once, and is other pages' then, or after `until`. */
  end(reason: Error, isFreezing: boolean, until: Promise<unknown> | null): void
}

interface SeatParts<Runner> {
  /** Whatever has to be known before anything is asked for. */
  ready: () => Promise<void>
  request: (turns: Pick<Turns, 'onOwn' | 'onWait' | 'onLose'>) => Hold
  /** What another page may have changed is read again before this one takes over. */
  refresh: () => Promise<void>
  /** Whether it turned out meanwhile that other pages ask for the try-on under another name. */
  isMisplaced: () => boolean
  start: () => Runner
  stop: (runner: Runner) => void
  onWait: () => void
  onLose: () => void
}

export function takeSeat<Runner>(parts: SeatParts<Runner>): Seat<Runner> {
  let runner: Runner | null = null
  let hold: Hold | null = null
  let isWaiting = false
  let isOver = false
  const decided = deferred()
  const owned = deferred()
  const ended = deferred<never>()
  ended.promise.catch(() => undefined)

  function ask(): void {
    hold = parts.request({
      onOwn: () => void own(),
      onWait() {
        isWaiting = true
        parts.onWait()
        decided.resolve()
      },
      onLose: () => isOver || parts.onLose(),
    })
  }

  async function own(): Promise<void> {
    await parts.refresh()
    if (isOver) return
    if (parts.isMisplaced()) {
      hold?.release(false)
      return ask()
    }
    isWaiting = false
    runner = parts.start()
    owned.resolve()
    decided.resolve()
  }

  parts.ready().then(() => isOver || ask(), ended.reject)

  return {
    get runner() {
      return runner
    },
    get isWaiting() {
      return isWaiting
    },
    decided: decided.promise,
    owned: owned.promise,
    ended: ended.promise,
    confirm: async () => !isOver && hold !== null && hold.confirm(),
    isUntaken: async () => !isOver && hold !== null && ((await hold.confirm()) || (await hold.look()) === 'mine'),
    isProven: () => hold?.isProven() === true,
    isFresh: () => !isOver && hold?.isFresh() === true,
    isStill: async () => !isOver && hold !== null && (hold.isFresh() || (await hold.look()) !== 'taken') && !isOver,
    end(reason, isFreezing, until) {
      isOver = true
      isWaiting = false
      // whoever waits for the flow is told why it stops
      ended.reject(reason)
      if (runner !== null) parts.stop(runner)
      runner = null
      const letGo = () => hold?.release(isFreezing)
      if (until) void until.then(letGo, letGo)
      else letGo()
    },
  }
}
