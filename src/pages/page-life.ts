/** What a room has to be told about the page or app that it is in. */
export interface PageLife {
  /** It is visible or online again: timers run late or not at all while hidden, so the room polls at once. */
  onWake(): void
  /** The page may be kept without running, so it lets go of what another page waits for. */
  onHide(isFreezing: boolean): void
  onShow(): void
}

/** Calls these methods from now on; returns a function that stops it. */
export type FollowPageLife = (life: PageLife) => () => void

/** Follows a page through being hidden, frozen, kept and shown again; elsewhere nothing happens. */
export const followPageLife: FollowPageLife = ({ onWake, onHide, onShow }) => {
  if (typeof window === 'undefined' || typeof document === 'undefined') return () => {}
  const ends = new AbortController()
  const on = (target: EventTarget, type: string, react: (event: Event) => void) =>
    target.addEventListener(type, react, { signal: ends.signal })
  on(document, 'visibilitychange', () => document.visibilityState === 'visible' && onWake())
  on(window, 'online', onWake)
  on(window, 'pagehide', () => onHide(false))
  on(document, 'freeze', () => onHide(true))
  on(document, 'resume', onShow)
  on(window, 'pageshow', (event) => ((event as PageTransitionEvent).persisted ? onShow() : onWake()))
  return () => ends.abort()
}
