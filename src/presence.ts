import { followPageLife, type FollowPageLife } from './pages/page-life.ts'
import { openTabs, type TabMessage, type Tabs } from './pages/tabs.ts'
import type { steadyClock } from './platform/clock.ts'
import { createLater, type Later } from './platform/later.ts'
import type { Catalog } from './records/catalog.ts'
import type { RunningTryOn } from './try-on/try-on.ts'

interface PresenceParts {
  clock: ReturnType<typeof steadyClock>
  catalog: Catalog
  pageLife: FollowPageLife | undefined
  /** Whether other pages may read what this one keeps: what only memory holds is nobody else's. */
  durable: boolean
  /** What the pages of one room have in common. */
  room: () => string
  /** Does that with each try-on of the room. */
  each: (tell: (tryOn: RunningTryOn) => void) => void
  /** Another page says that. */
  hear: (message: TabMessage) => void
  /** Reads what storage has of the room's shopper. */
  restore: () => Promise<unknown>
  /** Other pages may have said something that was not heard. */
  missed: () => void
  /** Shows nothing of a shopper who may be a former one. */
  hide: () => void
  /** Removes what is due. */
  sweep: () => Promise<unknown>
}

/** Whether a room is in use: then it has read storage, hears the other pages and follows the life of its own. */
interface Presence extends Pick<Later, 'later'>, Pick<Tabs, 'post'> {
  /** Whether it was opened, and not closed since. */
  isUp(): boolean
  /** Whether storage cannot be read, though another page may have reset the room: nothing of it is told. */
  isDoubtful(): boolean
  open(): Promise<void>
  /** A word of the shopper is a reason to look again into storage that could not be read. */
  reopen(): Promise<boolean>
  /** Reads again what another page may have changed. */
  refresh(): Promise<void>
  listen(): void
  stopListening(): void
  close(): void
}

export function createPresence(parts: PresenceParts): Presence {
  const { clock, catalog, durable, each } = parts
  let opened: Promise<void> | null = null
  let isUp = false
  let tabs: Tabs | null = null
  /** How often other pages were not heard, and which of these times nothing is unknown of any more. */
  let absences = 0
  let madeUpFor = 0
  /** Whether that cannot be read. */
  let isDoubtful = false
  let stopFollowing = () => {}
  const { later, endWait } = createLater(clock, () => isUp)

  const post: Tabs['post'] = (message) => {
    const isUnheard = tabs === null && message.type === 'lateAnswer'
    // other pages go on with what a closed room has begun
    if (isUnheard) listen()
    tabs?.post(message)
    if (isUnheard) stopListening()
  }

  async function refresh(): Promise<void> {
    const upTo = absences
    const hasMissed = upTo !== madeUpFor
    if (hasMissed || isDoubtful) isDoubtful = catalog.isSeen() && !(await catalog.isReadable())
    if (isDoubtful) later(refresh)
    if (isDoubtful && hasMissed) parts.hide()
    await catalog.isPresent(catalog.shopper())
    if (!isDoubtful) await parts.restore()
    if (hasMissed) parts.missed()
    madeUpFor = upTo
  }

  function listen(): void {
    if (tabs !== null || !durable) return
    tabs = openTabs({
      name: parts.room(),
      epochs: catalog.counts,
      isOfNow: catalog.takeIn,
      lookAgain: () => catalog.isPresent(catalog.shopper()),
      onMessage: parts.hear,
      onReset: catalog.hear,
    })
  }

  function stopListening(): void {
    tabs?.close()
    tabs = null
    absences += 1
  }

  function unfollow(): void {
    const stop = stopFollowing
    stopFollowing = () => {}
    stop()
  }

  function follow(): void {
    // one that could not be opened is opened once more
    unfollow()
    stopFollowing = (parts.pageLife ?? followPageLife)({
      onWake: () => each((tryOn) => tryOn.wake()),
      onHide(isFreezing) {
        each((tryOn) => tryOn.stop(isFreezing))
        stopListening()
      },
      onShow() {
        listen()
        each((tryOn) => tryOn.show())
        // what another page has said meanwhile was not heard
        void refresh().then(lookAnew)
      },
    })
  }

  async function begin(): Promise<void> {
    clock.begin()
    follow()
    listen()
    await catalog.open()
    await refresh()
    void parts.sweep().catch(() => undefined)
  }

  function open(): Promise<void> {
    // what is watched has heard nothing since the room was closed; what opens it takes its seat first
    if (!isUp) void Promise.resolve().then(() => isUp && each((tryOn) => tryOn.show()))
    isUp = true
    // a page that was put away may be used all the same
    if (opened) listen()
    opened ??= begin().catch((error: unknown) => {
      opened = null
      throw error
    })
    return opened
  }

  async function reopen(): Promise<boolean> {
    await open()
    if (catalog.isSeen() || !durable) return false
    await catalog.open()
    return catalog.isSeen()
  }

  /** Who was away, and has never read whose storage this is, looks until that is known. */
  async function lookAnew(): Promise<void> {
    // where it hears nobody it is closed, or away once more
    if (tabs === null || catalog.isSeen()) return
    await catalog.open()
    if (!catalog.isSeen()) later(lookAnew)
  }

  return {
    later,
    post,
    isUp: () => isUp,
    isDoubtful: () => isDoubtful,
    open,
    reopen,
    refresh,
    listen,
    stopListening,
    close() {
      unfollow()
      // the page may go, and what only its memory has goes with it
      endWait()
      isUp = false
      stopListening()
      opened = null
    },
  }
}
