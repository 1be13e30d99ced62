import type { Clock } from 'fitting-room'
import { createRoom } from 'fitting-room/core'
import { crowdService } from '../crowd/service.ts'
import { virtualTime } from '../crowd/time.ts'
import { testStorage } from '../support/storage.ts'

/** What one of so many flows costs, each a shopper's from the photo to the picture. */
export interface Cost {
  /** All of the flow, in ms. */
  cpuMs: number
  /** While all jobs run, in bytes; NaN where nobody may collect garbage. */
  heapBytes: number
  /** That wait while all jobs run. */
  timers: number
  /** That are kept when all are done, in bytes. */
  storageBytes: number
  /** Storage calls, from first to last. */
  storageCalls: number
  /** Timers of all flows that are left when all rooms are closed. */
  timersLeft: number
  /** What storage holds at the end. */
  items: ReadonlyMap<string, string>
}

const photo = { imageUrl: 'https://photos.test/a.png' }
const productOf = (number: number) => ({ productId: '1001', variantId: String(2_001 + number), funnelIds: [12] })

/** Plays them in virtual time, in one process: every shopper with a room of their own, or all in one. */
export async function playFlows(count: number, rooms: 'each a room' | 'one room'): Promise<Cost> {
  const time = virtualTime()
  const storage = testStorage()
  let timers = 0
  const plain = time.clockOf(0)
  const clock: Clock = {
    ...plain,
    setTimeout(run, ms) {
      timers += 1
      const fire = () => {
        timers -= 1
        timer.isOver = true
        run()
      }
      const timer = { inner: plain.setTimeout(fire, ms), isOver: false }
      return timer
    },
    clearTimeout(given) {
      const timer = given as { inner: unknown; isOver: boolean } | null
      if (!timer || timer.isOver) return
      timer.isOver = true
      timers -= 1
      plain.clearTimeout(timer.inner)
    },
  }
  let calls = 0
  storage.meet(
    () => true,
    ({ land }) => ((calls += 1), land()),
  )
  const service = crowdService({
    time,
    timesOf: () => ({ previewMs: 24_000, finalMs: 40_000 }),
    latencyMs: () => 50,
    isLost: () => false,
    // which is another bench's
    isUncounted: true,
  })
  const roomOf = (number: number, namespace: string) =>
    createRoom({
      baseUrl: 'https://api.test',
      apiKey: 'key',
      clock,
      storage,
      namespace,
      fetch: service.fetchOf(number),
      budget: { ask: () => 0, learn() {}, price: () => 0 },
      // all have read the clock at once, but nobody comes at once
      timing: { pollIntervalMs: 5_000 },
    })
  const one = roomOf(0, 'one')
  const heapBytes = () => {
    globalThis.gc?.()
    return globalThis.gc ? process.memoryUsage().heapUsed : NaN
  }
  const before = heapBytes()
  const begun = process.cpuUsage()
  const flows = Array.from({ length: count }, (_, number) => {
    const room = rooms === 'one room' ? one : roomOf(number, `shopper-${number}`)
    return { room, tryOn: room.tryOn(productOf(number)), startsAt: (10_000 * number) / count }
  })
  for (const { tryOn, startsAt } of flows) {
    void time.wait(startsAt).then(() => {
      tryOn.subscribe(() => {})
      return tryOn.start(photo)
    })
  }
  await time.runUntil(30_000)
  const [timersRunning, heapRunning] = [timers, heapBytes() - before]
  await time.runUntil(90_000)
  const { user, system } = process.cpuUsage(begun)
  const unfinished = flows.filter(({ tryOn }) => tryOn.get().state !== 'final')
  if (unfinished.length > 0) throw new Error(`${unfinished.length} did not end: ${unfinished[0]?.tryOn.get().state}`)
  for (const { room } of flows) room.close()
  await time.runUntil(200_000)
  const bytes = [...storage.items].reduce((all, [key, value]) => all + key.length + value.length, 0)
  return {
    cpuMs: (user + system) / 1_000 / count,
    heapBytes: heapRunning / count,
    timers: timersRunning / count,
    storageBytes: bytes / count,
    storageCalls: calls / count,
    timersLeft: timers,
    items: storage.items,
  }
}
