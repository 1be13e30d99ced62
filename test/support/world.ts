import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createService, memoryStore, parseConfig, watchedStore, type ConfigInput } from '@fitting-room/service'
import {
  createFittingRoom,
  type Fetch,
  type FittingRoom,
  type FittingRoomOptions,
  type FlowStorage,
  type PutPhoto,
  type TryOn,
  type TryOnView,
} from 'fitting-room'
import { createRoom } from 'fitting-room/core'
import { memoryStorage } from 'fitting-room/storage/memory'
import { refusal, refusedKey, unknownVariant } from './answers.ts'
import { undrawn } from './undrawn.ts'
import { manualClock, type ManualClock } from 'fitting-room/testing'
import { obedientBudget } from './obedient.ts'
import { suiteConfig } from './suite-config.ts'

export const person = new File(
  [readFileSync(new URL('../../examples/sample/person.png', import.meta.url))],
  'person.png',
  { type: 'image/png' },
)
export const product = { productId: '1001', variantId: '2001', funnelIds: [12] }

/** Somebody looks at it and has given the consent. */
export async function started(tryOn: TryOn): Promise<TryOn> {
  tryOn.subscribe(() => {})
  await tryOn.start(person)
  return tryOn
}

/** The store of the contract suite, with times that leave room between acceptance, preview and final. */
const worldConfig: ConfigInput = {
  stores: suiteConfig.stores.slice(0, 1),
  generation: { previewAfterMs: 4000, readyAfterMs: 8000 },
}

const openConfig: ConfigInput = {
  ...worldConfig,
  stores: worldConfig.stores.map((store) => ({ ...store, email: null, tryOnCap: null })),
}

/** What happens to one exchange: `reach` hands the request to the service; an answer given without it never got there. */
export type Fault = (reach: () => Promise<Response>, request: Request) => Promise<Response>

interface Sent {
  method: string
  path: string
  body: any
  headers: Headers
}

/** The real service in process, a clock that the test moves, and storage that outlives the rooms. */
export interface World {
  clock: ManualClock
  storage: FlowStorage
  /** Every request that left a room, in order. */
  sent: Sent[]
  count(method: string, path: string): number
  /** Meets the next matching requests, one fault each, in order; the last one stays when `forever`. */
  fault(method: string, path: string, faults: Fault[], forever?: boolean): void
  /** The next matching request waits until the returned function lets it go on. */
  hold(method: string, path: string, where?: 'before' | 'after'): { reached: Promise<void>; release: () => void }
  /** A room as a page load makes it: everything but storage and service is new. */
  room(options?: Partial<FittingRoomOptions>): FittingRoom
  /** The same behind its door, as users import it. */
  door(options?: Partial<FittingRoomOptions>): FittingRoom
  /** Lets time pass until the view is as wanted. */
  until(tryOn: TryOn, wanted: TryOnView['state'] | ((view: TryOnView) => boolean)): Promise<TryOnView>
  /** Lets everything happen that needs no time to pass, messages between pages included. */
  settle(): Promise<void>
  /** Lets `ms` pass in small steps, by a page's own clock where it has one. */
  pass(ms: number, clock?: ManualClock): Promise<void>
  apiKey: { current: string }
  /** How a room's requests get to the service, and its photos. */
  fetch: Fetch
  putPhoto: PutPhoto
  close(): Promise<void>
}

interface WorldOptions {
  storage?: FlowStorage
  config?: ConfigInput
  /** The storage does real I/O, which time must wait for. */
  realStorage?: boolean
  /** False for a store without e-mail gate and cap. */
  gated?: boolean
  /** The service draws its pictures. */
  draws?: boolean
}

export function createWorld(options: WorldOptions = {}): World {
  const { gated = true, config = gated ? worldConfig : openConfig, realStorage = false, draws = false } = options
  const clock = manualClock()
  const ownChannel = `world:${randomUUID()}`
  const base = 'https://api.test'
  const rooms: FittingRoom[] = []
  const sent: Sent[] = []
  const plans: { method: string; path: string; faults: Fault[]; forever: boolean }[] = []
  const apiKey = { current: 'main-key' }
  let busy = 0
  const given = options.storage ?? memoryStorage()
  const counted = async <T>(work: () => T): Promise<Awaited<T>> => {
    busy++
    try {
      return await work()
    } finally {
      busy--
    }
  }
  const storage: FlowStorage = realStorage
    ? {
        getItem: (key) => counted(() => given.getItem(key)),
        setItem: (key, value) => counted(() => given.setItem(key, value)),
        removeItem: (key) => counted(() => given.removeItem(key)),
      }
    : given
  const store = watchedStore(memoryStore(), {
    saved: (_, isNew) => void (isNew && busy++),
    worked: () => void busy--,
  })
  const service = createService({
    config: parseConfig(config),
    publicUrl: base,
    clock,
    store,
    ...(!draws && undrawn),
  })

  const matches = (plan: { method: string; path: string }, request: Request) =>
    plan.method === request.method && new URL(request.url).pathname.startsWith(plan.path)

  async function fetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
    const request = new Request(input, init)
    const { pathname } = new URL(request.url)
    const json = request.headers.get('Content-Type') === 'application/json'
    const body = json ? JSON.parse(await request.clone().text()) : null
    sent.push({ method: request.method, path: pathname, body, headers: request.headers })
    const reach = () => service.fetch(request, { ip: '203.0.113.7' })
    const plan = plans.find((each) => each.faults.length > 0 && matches(each, request))
    const fault = plan && (plan.forever && plan.faults.length === 1 ? plan.faults[0] : plan.faults.shift())
    busy++
    try {
      return await (fault ? fault(reach, request) : reach())
    } finally {
      busy--
    }
  }

  const [here, there] = [new BroadcastChannel(ownChannel), new BroadcastChannel(ownChannel)]
  /** What was posted to another page before is there when this is: a message of the world's own goes the same way. */
  const carried = () =>
    new Promise<unknown>((resolve) => {
      there.onmessage = resolve
      here.postMessage(null)
    })
  /** A message, its answer and what each side then writes: a few ways there and back with nothing under way. */
  async function settle(): Promise<void> {
    for (let quiet = 0; quiet < 4; quiet = busy > 0 ? 0 : quiet + 1) {
      await carried()
      await new Promise((done) => setImmediate(done))
    }
  }

  const putPhoto: PutPhoto = async (uploadUrl, { bytes, type }, { onProgress }) => {
    const total = bytes.byteLength
    onProgress?.({ sent: total / 2, total })
    const answer = await fetch(uploadUrl, { method: 'PUT', body: bytes, headers: { 'Content-Type': type } })
    return answer.status
  }

  function roomOf(create: typeof createFittingRoom, options: Partial<FittingRoomOptions> = {}): FittingRoom {
    const made = create({
      baseUrl: base,
      apiKey: () => apiKey.current,
      storage,
      clock,
      fetch,
      putPhoto,
      // when a request goes out is the business of the tests of the budget
      budget: obedientBudget(options.clock ?? clock),
      ...options,
      timing: { pollIntervalMs: 2_000, ...options.timing },
    })
    rooms.push(made)
    return made
  }

  return {
    clock,
    storage,
    sent,
    apiKey,
    fetch,
    putPhoto,
    settle,
    async pass(ms, own = clock) {
      for (let passed = 0; passed < ms; passed += 500) {
        own.advance(500)
        await settle()
      }
    },
    count: (method, path) => sent.filter((each) => each.method === method && each.path.startsWith(path)).length,
    fault: (method, path, faults, forever = false) => void plans.push({ method, path, faults: [...faults], forever }),
    hold(method, path, where = 'before') {
      let release = () => {}
      let arrive = () => {}
      const reached = new Promise<void>((resolve) => (arrive = resolve))
      const released = new Promise<void>((resolve) => (release = resolve))
      const wait = async () => {
        busy--
        arrive()
        await released
        busy++
      }
      const fault: Fault = async (reach) => {
        if (where === 'before') await wait()
        const answer = await reach()
        if (where === 'after') await wait()
        return answer
      }
      plans.push({ method, path, faults: [fault], forever: false })
      return { reached, release: () => release() }
    },
    room: (options) => roomOf(createRoom, options),
    door: (options) => roomOf(createFittingRoom, options),
    async until(tryOn, wanted) {
      const reached = typeof wanted === 'string' ? (view: TryOnView) => view.state === wanted : wanted
      const subscription = tryOn.subscribe(() => {})
      try {
        for (let turn = 0; turn < 2_000; turn++) {
          await settle()
          if (reached(tryOn.get())) return tryOn.get()
          clock.advanceToNext()
        }
      } finally {
        subscription.unsubscribe()
      }
      throw new Error(`still ${tryOn.get().state}, wanted ${String(wanted)}: ${JSON.stringify(tryOn.get())}`)
    },
    async close() {
      for (const room of rooms) room.close()
      here.close()
      there.close()
      await service.close()
    },
  }
}

export const lost: Fault = async (reach) => {
  await reach()
  throw new TypeError('the connection was lost after the request was received')
}
export const dropped: Fault = async () => {
  throw new TypeError('the connection was lost before the request was received')
}
export const answers =
  (status: number, body: unknown, headers: Record<string, string> = {}): Fault =>
  async () =>
    new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers })

/** A refusal of the contract in place of the service's answer. */
export const refuses = (...given: Parameters<typeof refusal>): Fault => {
  const { status, body, headers } = refusal(...given)
  return answers(status, body, headers)
}
export const refusesKey = answers(refusedKey.status, refusedKey.body)
export const refusesVariant = answers(unknownVariant.status, unknownVariant.body)
