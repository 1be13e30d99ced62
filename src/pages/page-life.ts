/** What a room wants to hear of the page, or the app, that it is in. */
export interface PageLife {
  /** Timers of a hidden page run late or not at all, so its return is a reason to look at once. */
  onWake(): void
  /** The page may be kept without running: it holds nothing that another page waits for. */
  onHide(isFreezing: boolean): void
  onShow(): void
}

/** Tells a room of its page's life from now on; returns what ends that. */
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
