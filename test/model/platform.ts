import { AsyncLocalStorage } from 'node:async_hooks'

/** What a runtime gives to the code that runs in it: here each page of a world has its own. */
export interface Host {
  readonly hasLocks: boolean
  readonly locks: Locks
  readonly bus: Bus
  /** What listens to the window's events. */
  readonly window: EventTarget
  /** Runs at the host's next turn: never if it was killed, later if it stalls. */
  turn(run: () => void): void
}

const hosts = new AsyncLocalStorage<Host>()

/** Runs `work`, and whatever it leads to, on that host. */
export const onHost = <T>(host: Host, work: () => T): T => hosts.run(host, work)

/** A lock that is held or asked for. */
interface Ask {
  host: Host
  grant(): void
}

/** Web Locks of one origin. */
export class Locks {
  private readonly queues = new Map<string, Ask[]>()

  /** A page that is gone holds nothing. */
  leave(host: Host): void {
    for (const [name, queue] of this.queues) {
      for (const ask of queue.filter((each) => each.host === host)) this.remove(name, ask)
    }
  }

  /** Whether a page has what others wait for. */
  isHeldBy(host: Host): boolean {
    return [...this.queues.values()].some(([first]) => first?.host === host)
  }

  request(
    name: string,
    options: { ifAvailable?: boolean; signal?: AbortSignal },
    work: (lock: object | null) => unknown,
  ) {
    const host = hosts.getStore()
    if (!host) throw new TypeError('a lock is asked for outside of every page')
    return new Promise((resolve, reject) => {
      const queue = this.queues.get(name) ?? []
      this.queues.set(name, queue)
      const run = async (lock: object | null) => work(lock)
      if (options.ifAvailable && queue.length > 0) return host.turn(() => void run(null).then(resolve, reject))
      let granted = false
      const ask: Ask = {
        host,
        grant: () =>
          host.turn(() => {
            if (options.signal?.aborted) return
            granted = true
            const done = () => this.remove(name, ask)
            void run({ name }).then(resolve, reject).finally(done)
          }),
      }
      queue.push(ask)
      if (queue[0] === ask) ask.grant()
      options.signal?.addEventListener('abort', () => {
        if (granted) return
        this.remove(name, ask)
        reject(new DOMException('the request was aborted', 'AbortError'))
      })
    })
  }

  private remove(name: string, ask: Ask): void {
    const queue = this.queues.get(name) ?? []
    const at = queue.indexOf(ask)
    if (at < 0) return
    queue.splice(at, 1)
    if (at === 0) queue[0]?.grant()
  }
}

/** The broadcast channels of one origin. */
export class Bus {
  readonly channels = new Set<PageChannel>()
  /** The last messages that pages have sent. */
  readonly said: unknown[] = []
  /** What was thrown where nobody catches it. */
  readonly uncaught: unknown[] = []
  onWay = 0

  post(message: unknown, from?: PageChannel): void {
    for (const channel of this.channels) {
      if (channel === from || (from && channel.name !== from.name)) continue
      this.onWay++
      setImmediate(() => {
        this.onWay--
        channel.deliver(structuredClone(message))
      })
    }
  }
}

/** A page's end of a broadcast channel. */
class PageChannel {
  readonly name: string
  onmessage: ((event: { data: unknown }) => unknown) | null = null
  private readonly host = hosts.getStore()
  private readonly listeners = new Set<(event: { data: unknown }) => unknown>()

  constructor(name: string) {
    this.name = name
    this.host?.bus.channels.add(this)
  }

  isOf(host: Host): boolean {
    return this.host === host
  }

  addEventListener(_type: string, listener: (event: { data: unknown }) => unknown): void {
    this.listeners.add(listener)
  }

  removeEventListener(_type: string, listener: (event: { data: unknown }) => unknown): void {
    this.listeners.delete(listener)
  }

  postMessage(message: unknown): void {
    if (!this.host?.bus.channels.has(this)) return
    const sent: unknown = structuredClone(message)
    this.host.bus.said.push(sent)
    if (this.host.bus.said.length > 50) this.host.bus.said.shift()
    this.host.bus.post(sent, this)
  }

  deliver(data: unknown): void {
    this.host?.turn(() => {
      if (!this.host?.bus.channels.has(this)) return
      try {
        this.onmessage?.({ data })
        for (const listener of this.listeners) listener({ data })
      } catch (error) {
        this.host.bus.uncaught.push(error)
      }
    })
  }

  close(): void {
    this.host?.bus.channels.delete(this)
  }
}

/** Puts locks, channels and chance of the model in place of the platform's, until the returned function is called. */
export function installPlatform(): () => void {
  const own = (target: object, name: string, descriptor: PropertyDescriptor) => {
    const before = Object.getOwnPropertyDescriptor(target, name)
    Object.defineProperty(target, name, { configurable: true, ...descriptor })
    return () => (before ? Object.defineProperty(target, name, before) : Reflect.deleteProperty(target, name))
  }
  const undo = [
    own(globalThis, 'isSecureContext', { get: () => hosts.getStore()?.hasLocks ?? false }),
    own(navigator, 'locks', { get: () => hosts.getStore()?.locks }),
    own(globalThis, 'addEventListener', {
      value: (...asked: Parameters<EventTarget['addEventListener']>) =>
        hosts.getStore()?.window.addEventListener(...asked),
    }),
    own(globalThis, 'BroadcastChannel', { value: PageChannel, writable: true }),
  ]
  return () => undo.forEach((each) => each())
}

/** Chance from a seed (mulberry32), so that a sequence is the same every time. */
export function seededChance(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
