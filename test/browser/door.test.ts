import { expect, inject, it, onTestFinished, vi } from 'vitest'
import { createFittingRoom } from 'fitting-room'

/** Timers that are set and have neither run nor been cleared. */
function watchTimers() {
  const running = new Set<unknown>()
  const [set, clear] = [globalThis.setTimeout, globalThis.clearTimeout]
  vi.stubGlobal('setTimeout', (run: () => void, ms?: number) => {
    const timer = set(() => (running.delete(timer), run()), ms)
    running.add(timer)
    return timer
  })
  vi.stubGlobal('clearTimeout', (timer: number) => (running.delete(timer), clear(timer)))
  return running
}

it.each([1, 50])(
  '%i cards of an idle product page are one look into its default storage, and nothing else',
  async (many) => {
    onTestFinished(() => void vi.unstubAllGlobals())
    const opened = vi.spyOn(IDBFactory.prototype, 'open')
    const read = vi.spyOn(IDBDatabase.prototype, 'transaction')
    const nothing = [
      vi.spyOn(Object.getPrototypeOf(navigator.locks) as LockManager, 'request'),
      vi.spyOn(BroadcastChannel.prototype, 'postMessage'),
      vi.spyOn(Storage.prototype, 'setItem'),
      vi.spyOn(globalThis, 'fetch'),
      vi.spyOn(globalThis, 'setInterval'),
    ]
    onTestFinished(() => void vi.restoreAllMocks())
    const running = watchTimers()
    const namespace = crypto.randomUUID()
    const room = createFittingRoom({ baseUrl: inject('baseUrl'), apiKey: 'sandbox-key', namespace })
    const idle = Array.from({ length: many }, (_, index) => {
      const tryOn = room.tryOn({ productId: '1001', variantId: String(2001 + index), funnelIds: [11] })
      return new Promise<void>((resolve) => tryOn.subscribe(({ state }) => void (state === 'idle' && resolve())))
    })
    await Promise.all(idle)
    expect(opened).toHaveBeenCalledTimes(1)
    // none where the database is not there yet, which is not made by looking
    expect(read.mock.calls.length).toBeLessThanOrEqual(1)
    for (const spy of nothing) expect(spy).not.toHaveBeenCalled()
    expect(running.size).toBe(0)
    room.close()
  },
)
