import { isDenied } from '../storage/default.ts'

/** What a page cannot do: over plain http in a store's network most browsers give it none of the first three. */
export type Missing = 'locks' | 'camera' | 'wakeLock' | 'storage'

/**
 * `locks`: several pages of one device take turns by leases in storage. `camera`: none within the page, so a file input.
 * `wakeLock`: the display's own settings must keep it on. `storage`: neither IndexedDB nor localStorage may be used, so
 * nothing outlasts a load, and limits let nothing out.
 */
export function missingHere(hasOwnStorage: boolean): readonly Missing[] {
  const { locks, mediaDevices, wakeLock } = (globalThis.navigator ?? {}) as Partial<Navigator>
  const has = { locks, camera: mediaDevices?.getUserMedia, wakeLock, storage: hasOwnStorage || !isDenied() }
  return (Object.keys(has) as Missing[]).filter((each) => !has[each])
}

/** How long after a touch its click may come, in ms. */
const clickMs = 1_000

/**
 * Reports each touch, key and turn of the wheel before the page itself gets it, but nothing that the page does by
 * itself, such as scrolling or a script's click. The page never gets what comes too late (`onActivity` returns false),
 * as it may be the next shopper's. Returns a function that stops it; without a page nothing is reported.
 */
export function watchPage(onActivity: (isHeld?: boolean) => boolean): () => void {
  const ends = new AbortController()
  /** Keys that were pressed too late, and until when a touch that was is so, by the time of events: to their ends. */
  const lateKeys = new Set<string>()
  let lateUntil = 0
  /** What lies on a key is nobody, nor is what comes of it. */
  let isHeld = false

  function isLateKey({ type, code, repeat }: KeyboardEvent): boolean {
    const isBegun = type === 'keydown' && !repeat
    isHeld = repeat
    const isLate = (!isBegun && lateKeys.has(code)) || !onActivity(isHeld)
    if (isLate && type === 'keydown') lateKeys.add(code)
    else lateKeys.delete(code)
    return isLate
  }

  function isLateTouch({ type, timeStamp, detail }: UIEvent): boolean {
    // the click of a key, or of what assists, has none
    const isEnding = type === 'pointerup' || (type === 'click' && detail > 0)
    const isOfKey = type === 'input' || (type === 'click' && detail === 0)
    const isLate = (isEnding && timeStamp < lateUntil) || !onActivity(isHeld && isOfKey)
    if (type === 'pointerdown') lateUntil = isLate ? Infinity : 0
    else if (isEnding) lateUntil = isLate && type === 'pointerup' ? timeStamp + clickMs : 0
    return isLate
  }

  function hear(event: Event): void {
    if (!event.isTrusted) return
    if (!(event instanceof KeyboardEvent ? isLateKey(event) : isLateTouch(event as UIEvent))) return
    event.stopImmediatePropagation()
    if (event.cancelable) event.preventDefault()
  }
  const listen = (types: readonly string[], passive: boolean) => {
    for (const type of types)
      globalThis.document?.addEventListener(type, hear, { capture: true, passive, signal: ends.signal })
  }
  listen(['pointerdown', 'pointerup', 'click', 'keydown', 'keyup', 'input'], false)
  listen(['wheel'], true)
  // it has become a scroll, and nothing more comes of it
  globalThis.document?.addEventListener('pointercancel', () => (lateUntil = 0), { capture: true, signal: ends.signal })
  return () => ends.abort()
}

/** Calls it once somebody may see the page: one that the browser has prepared for a link may never be opened. */
export function onceOpened(run: () => void): void {
  const page = globalThis.document as (Document & { readonly prerendering?: boolean }) | undefined
  if (page?.prerendering) page.addEventListener('prerenderingchange', run, { once: true })
  else run()
}

/** Keeps the display on while the page is shown, where the browser can; returns what ends that. */
export function keepDisplayOn(): () => void {
  const ends = new AbortController()
  let lock: WakeLockSentinel | undefined

  // it is lost whenever the page is hidden
  async function ask(): Promise<void> {
    if (document.visibilityState !== 'visible') return
    const given = await navigator.wakeLock.request('screen').catch(() => undefined)
    if (ends.signal.aborted) return given?.release()
    lock = given
  }

  if (globalThis.document && navigator.wakeLock) {
    document.addEventListener('visibilitychange', ask, { signal: ends.signal })
    void ask()
  }
  return () => {
    ends.abort()
    void lock?.release()
  }
}
