import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { steadyClock, withinLimit } from '../src/platform/clock.ts'
import { systemClock } from '../src/platform/system-clock.ts'

const day = 86_400_000

describe('the platform’s clock', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each([
    ['an hour', 3_600_000],
    ['the longest that platforms know', 2 ** 31 - 1],
    ['more than platforms know', 60 * day],
  ])('waits for %s, not less and not more', (_, ms) => {
    const run = vi.fn()
    systemClock.setTimeout(run, ms)
    vi.advanceTimersByTime(ms - 1)
    expect(run).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1)
    expect(run).toHaveBeenCalledTimes(1)
  })

  it('a timer of Infinity never runs, and a stopped one does not either', () => {
    const run = vi.fn()
    systemClock.setTimeout(run, Infinity)
    const timer = systemClock.setTimeout(run, 60 * day)
    vi.advanceTimersByTime(30 * day)
    systemClock.clearTimeout(timer)
    vi.advanceTimersByTime(300 * day)
    expect(run).not.toHaveBeenCalled()
  })

  it('a time limit of Infinity is none, whatever the clock makes of it', async () => {
    const atOnce = { ...systemClock, setTimeout: (run: () => void) => run() }
    expect(await withinLimit(atOnce, Infinity, Promise.resolve('done'))).toBe('done')
    await expect(withinLimit(atOnce, 1_000, Promise.resolve('done'))).rejects.toThrow('within 1000 ms')
  })

  it('runs on without `performance`', () => {
    vi.stubGlobal('performance', undefined)
    const start = systemClock.monotonic()
    vi.setSystemTime(Date.now() + 5_000)
    expect(systemClock.monotonic() - start).toBe(5_000)
    vi.unstubAllGlobals()
  })
})

describe('a page’s own clock', () => {
  /** Its platform's two clocks, of which the wall clock runs ahead by so much each time. */
  function page() {
    let [wall, monotonic] = [Date.UTC(2026, 10, 1), 0]
    const clock = steadyClock({ ...systemClock, now: () => wall, monotonic: () => monotonic })
    clock.elapsed()
    const pass = (ms: number, aheadMs: number) => ((monotonic += ms), (wall += ms + aheadMs))
    return { clock, pass }
  }

  it('takes no sleep for what its platform’s clocks drift apart, however long that goes on', () => {
    const { clock, pass } = page()
    for (let seen = 0; seen < 100_000; seen += 1) {
      const before = clock.elapsed()
      pass(5_000, 1)
      expect(clock.elapsed() - before).toBe(5_000)
    }
  })

  it('follows that all the same: other pages write down the time of now', () => {
    const { clock, pass } = page()
    for (let seen = 0; seen < 100_000; seen += 1) {
      pass(5_000, 5)
      clock.elapsed()
    }
    expect(clock.now()).toBe(Date.UTC(2026, 10, 1) + 100_000 * 5_005)
  })

  it('takes steps that are a day apart for no sleep, however many they are', () => {
    const { clock, pass } = page()
    for (let seen = 0; seen < 60; seen += 1) {
      const before = clock.elapsed()
      pass(day, 20_000)
      expect(clock.elapsed() - before).toBe(day)
    }
  })

  it('counts sleeps that are short each, once they are a minute together', () => {
    const { clock, pass } = page()
    for (const aheadMs of [25_000, 25_000, 25_000]) {
      pass(1_000, aheadMs)
      clock.elapsed()
    }
    expect(clock.elapsed()).toBe(78_000)
  })

  it('takes a clock that is set forward and back between two looks for no sleep', () => {
    const { clock, pass } = page()
    pass(1_000, 40_000)
    clock.elapsed()
    pass(1_000, -40_000)
    clock.elapsed()
    pass(1_000, 40_000)
    expect(clock.elapsed()).toBe(3_000)
  })
})
