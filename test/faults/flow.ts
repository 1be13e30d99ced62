import {
  createFittingRoom,
  type FittingRoom,
  type FlowStorage,
  type TryOn,
  type TryOnState,
  type TryOnView,
} from 'fitting-room'
import { createProxy } from 'fitting-room/proxy'
import { expect } from 'vitest'
import { columnOf, meanings, type Requested, type Situation } from '../../src/rules/outcome.ts'
import { scaledClock } from '../support/scaled-clock.ts'
import { serveFetch } from '../support/serve-fetch.ts'
import { person, product } from '../support/world.ts'
import { faultyService, type FaultyService } from './faulty-service.ts'

/** How fast time goes; what waits is skipped. */
export const times = 5
/** What a request has, by that clock: over at once where no answer comes, a minute away from the machine elsewhere. */
export const limitMs = 60_000 * times

/** Where a flow stops, or `final` where it goes on. */
const stops: TryOnState[] = [
  'final',
  'needsEmail',
  'unauthorized',
  'rejected',
  'failed',
  'limitReached',
  'protocolError',
  'outcomeUnknown',
  'stalled',
]

/** A faulty service, and one shopper's pages of it, one after the other. */
export interface Flow {
  service: FaultyService
  /** Loads the page with a deadline by the flow's clock; one that is open is closed. */
  open(operation: Requested | 'getContext', deadlineMs: number, storage?: FlowStorage): FittingRoom
  /** Of the page that is open. */
  readonly tryOn: TryOn
  /** Where a try-on with a photo of its own comes to rest. */
  end(operation: Requested): Promise<TryOnState>
  /** Carries the intent out and waits until the try-on rests. */
  rest(intent?: () => Promise<void>): Promise<void>
  /** Waits until storage has been read. */
  read(): Promise<void>
  submissions(): number
  close(): Promise<void>
}

/** How the page reaches the service. */
export type Way = 'directly' | 'through the proxy'

export async function openFlow(way: Way = 'directly'): Promise<Flow> {
  const clock = scaledClock(times)
  const service = await faultyService(() => clock.skip(limitMs))
  const proxy =
    way === 'directly'
      ? null
      : await serveFetch(createProxy({ baseUrl: service.url, apiKey: 'main-key', clock, onError: () => {} }))
  let room: FittingRoom | null = null
  let tryOn: TryOn

  /** Waits for a view that is as wanted. */
  function until(isWanted: (view: TryOnView) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!isWanted(tryOn.get())) return
        subscription.unsubscribe()
        resolve()
      }
      const subscription = tryOn.subscribe(look)
      look()
    })
  }

  const skipWait = ({ waitingUntil }: TryOnView) => {
    if (waitingUntil !== null) setImmediate(() => clock.skip(Math.max(0, waitingUntil - clock.now())))
  }

  async function rest(intent = async () => {}): Promise<void> {
    // an intent may wait as well
    const skipping = tryOn.subscribe(skipWait)
    skipWait(tryOn.get())
    await intent()
    await until(({ state, can }) => stops.includes(state) && (state !== 'needsEmail' || can.submitEmail))
    skipping.unsubscribe()
  }

  return {
    service,
    get tryOn() {
      return tryOn
    },
    rest,
    read: () => until(({ state }) => state !== 'restoring'),
    open(operation, deadlineMs, storage) {
      room?.close()
      room = createFittingRoom({
        baseUrl: proxy ? `${proxy.url}/api` : service.url,
        apiKey: proxy ? 'any' : 'main-key',
        clock,
        storage,
        timing: {
          requestTimeoutMs: limitMs,
          submitTimeoutMs: limitMs,
          uploadTimeoutMs: limitMs,
          deadlineMs,
          pollIntervalMs: 100,
        },
        askVisitorFirst: true,
      })
      tryOn = room.tryOn({ ...product, variantId: operation === 'registerCustomer' ? '2009' : '2001' })
      return room
    },
    async end(operation) {
      await rest(() => tryOn.start(person))
      if (operation !== 'registerCustomer') return tryOn.get().state
      // it is asked for an address and gets one
      expect(tryOn.get().state).toBe('needsEmail')
      await rest(() => tryOn.submitEmail({ email: 'ada@example.com' }).catch(() => undefined))
      return tryOn.get().state
    },
    submissions: () => service.reached.filter((each) => each === 'POST /generations').length,
    async close() {
      room?.close()
      proxy?.close()
      await service.close()
    },
  }
}

/** What the table says of one fault in a flow that is served well otherwise. */
export function expectedEnd(operation: Requested, situation: Situation): TryOnState {
  // where the visitor cannot be asked first, the submission decides
  if (operation === 'getRequestsLeft') return 'final'
  // a target that takes no photo but says so fails the job; its answer has no body to misfit, and it knows no key
  if (operation === 'putPhoto' && situation === 'misfit') return 'failed'
  if (operation === 'putPhoto' && situation === 'keyRefused') return 'rejected'
  const meaning = meanings[situation][columnOf(operation)]
  // a refused address is asked for again
  if (operation === 'registerCustomer' && !['unavailable', 'throttled', 'rejected.key'].includes(meaning))
    return 'needsEmail'
  if (meaning === 'rejected.email') return 'needsEmail'
  if (meaning === 'rejected.key') return 'unauthorized'
  if (meaning === 'rejected.request') return 'rejected'
  if (meaning === 'limitReached' || meaning === 'protocolError' || meaning === 'outcomeUnknown') return meaning
  return 'final'
}
