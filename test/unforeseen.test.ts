import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { FlowStorage, TryOn } from 'fitting-room'
import { memoryStorage } from 'fitting-room/storage/memory'
import { reported } from './support/reported.ts'
import { createWorld, person, product, type World } from './support/world.ts'

let world: World
let developers: ReturnType<typeof reported>
/** The phase whose record, once it is written, is the last thing that the platform does right. */
let lastPhase: string | null
let isBroken: boolean
let breakPlatform: () => void

beforeEach(() => {
  developers = reported()
  lastPhase = null
  isBroken = false
  breakPlatform = () => void (isBroken = true)
  const disk = memoryStorage()
  const storage: FlowStorage = {
    getItem: (key) => disk.getItem(key),
    setItem: (key, value) => disk.setItem(key, value),
    removeItem: (key) => disk.removeItem(key),
    update(key, change) {
      disk.update(key, (old) => {
        const value = change(old)
        if (lastPhase !== null && value?.includes(`"phase":"${lastPhase}"`)) breakPlatform()
        return value
      })
    },
    ...(disk.photos && { photos: disk.photos }),
  }
  world = createWorld({ storage })
  // whatever is sent looks first whether the device is online
  Object.defineProperty(navigator, 'onLine', {
    configurable: true,
    get() {
      if (isBroken) throw new TypeError('a bug of the platform')
      return true
    },
  })
})
afterEach(async () => {
  Reflect.deleteProperty(navigator, 'onLine')
  vi.unstubAllGlobals()
  await world.close()
  developers.end()
})

async function brokenAfter(phase: string): Promise<TryOn> {
  const tryOn = world.room().tryOn(product)
  tryOn.subscribe(() => {})
  lastPhase = phase
  await tryOn.start(person)
  await world.until(tryOn, ({ problem }) => problem !== null)
  lastPhase = null
  return tryOn
}

describe('what breaks unforeseen', () => {
  it.each([
    ['before anything is sent', 'consented', 'stalled', false, ['resume', 'retry', 'startOver', 'discard']],
    ['once a claim stands', 'claimed', 'outcomeUnknown', true, ['retry', 'startOver']],
    ['once a job is known', 'accepted', 'stalled', true, ['resume', 'retry', 'startOver']],
  ])('%s stops where nothing untrue is said, and tells developers why', async (_, phase, state, sent, can) => {
    const tryOn = await brokenAfter(phase)
    expect(tryOn.get()).toMatchObject({ state, problem: { kind: 'internal', sent }, trouble: null })
    expect(Object.entries(tryOn.get().can).flatMap(([intent, may]) => (may ? [intent] : []))).toEqual(can)
    expect(tryOn.get().attempt?.jobId != null).toBe(phase === 'accepted')
    await vi.waitFor(() => expect(developers.told).toContainEqual(expect.any(TypeError)), { timeout: 15_000 })
  })

  it.each(['consented', 'accepted'])('after "%s" is gone on with by resume(), once it is mended', async (phase) => {
    const tryOn = await brokenAfter(phase)
    const { attempt } = tryOn.get()
    isBroken = false
    await tryOn.resume()
    const view = await world.until(tryOn, 'final')
    expect(view.attempt?.id).toBe(attempt?.id)
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it('in several requests at once is one stop, and the next word is heard', async () => {
    // no actor of the machine can be started
    breakPlatform = () => vi.stubGlobal('AbortController', undefined)
    const tryOn = await brokenAfter('consented')
    expect(tryOn.get()).toMatchObject({ state: 'stalled', problem: { kind: 'internal', sent: false } })
    vi.unstubAllGlobals()
    await tryOn.resume()
    await world.until(tryOn, 'final')
    expect(world.count('POST', '/generations')).toBe(1)
  })

  it.each<[string, () => string]>([
    ['makes none', () => ''],
    [
      'breaks',
      () => {
        throw new TypeError('no shoppers today')
      },
    ],
  ])(
    'in what makes the IDs of shoppers, as it %s, sends nothing, and goes on with the next word',
    async (_, makesNone) => {
      let makeId = makesNone
      const tryOn = world.room({ uniqueUserId: () => makeId() }).tryOn(product)
      tryOn.subscribe(() => {})
      await tryOn.start(person)
      await world.until(tryOn, 'stalled')
      expect(tryOn.get().problem).toEqual({ kind: 'internal', sent: false })
      expect(world.count('POST', '/generations')).toBe(0)
      await vi.waitFor(() => expect(developers.told).toContainEqual(expect.any(TypeError)), { timeout: 15_000 })
      makeId = () => 'the-next-shopper'
      await tryOn.resume()
      await world.until(tryOn, 'final')
      expect(
        world.sent.flatMap(({ path, body }) => (path === '/generations' && body ? [body.uniqueUserId] : [])),
      ).toEqual(['the-next-shopper'])
    },
  )

  it('keeps no cause: the next page reads where the attempt stands', async () => {
    const room = world.room()
    const tryOn = room.tryOn(product)
    tryOn.subscribe(() => {})
    lastPhase = 'accepted'
    await tryOn.start(person)
    const { attempt } = await world.until(tryOn, ({ problem }) => problem?.kind === 'internal')
    room.close()
    isBroken = false
    lastPhase = null
    const again = await world.until(world.room().tryOn(product), 'processing')
    expect([again.attempt, again.problem]).toEqual([attempt, null])
  })
})
