/** What a page can not do: over plain http in a store's network most browsers give it none of these. */
export type Missing = 'locks' | 'camera' | 'wakeLock'

/**
 * `locks`: several pages of one device take turns by leases in storage. `camera`: none within the page, so a file input.
 * `wakeLock`: the display's own settings must keep it on.
 */
export function missingHere(): readonly Missing[] {
  const { locks, mediaDevices, wakeLock } = (globalThis.navigator ?? {}) as Partial<Navigator>
  const has = { locks, camera: mediaDevices?.getUserMedia, wakeLock }
  return (Object.keys(has) as Missing[]).filter((each) => !has[each])
}

/**
 * Hears each touch, key and scroll of the page once what it does is done: the button that asks whether somebody is there
 * must not be gone before it is pressed. Returns what ends that; where there is no page nothing is heard.
 */
export function watchPage(onActivity: () => void): () => void {
  const ends = new AbortController()
  const options = { capture: true, passive: true, signal: ends.signal }
  const hear = () => void setTimeout(() => ends.signal.aborted || onActivity())
  for (const type of ['pointerup', 'keyup', 'input', 'wheel', 'scroll'])
    globalThis.document?.addEventListener(type, hear, options)
  return () => ends.abort()
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

  if (!missingHere().includes('wakeLock') && globalThis.document) {
    document.addEventListener('visibilitychange', ask, { signal: ends.signal })
    void ask()
  }
  return () => {
    ends.abort()
    void lock?.release()
  }
}
