import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest'
import {
  createFittingRoom,
  type FittingRoom,
  type Readable,
  type TryOn,
  type TryOnView,
  type Visitor,
} from 'fitting-room'
import { memoryStorage } from 'fitting-room/storage/memory'
import { deferred } from '../../src/platform/deferred.ts'
import photoUrl from '../../examples/sample/person.png'

const submission = 'POST generations'

/** Renders `show(value)` of each readable into an element of its own, as a component of the framework would. */
export type Mount = <T>(place: HTMLElement, readables: Readable<T>[], show: (value: T) => string) => () => void

/** One element for the readable that is selected, by what changes in the framework's own way; the first one at first. */
export type Follow = <T>(
  place: HTMLElement,
  readables: readonly [Readable<T>, Readable<T>],
  show: (value: T) => string,
) => { select(at: 0 | 1): void; unmount(): void }

/** Shows the states of a room's try-ons, each in an element of its own. */
type MountTryOns = (place: HTMLElement, tryOns: readonly Of[]) => () => void

/** A try-on, and what it is of. */
interface Of {
  room: FittingRoom
  tryOn: TryOn
  variantId: string
}

const stateOf = ({ state }: TryOnView) => state
const photo = async () => await (await fetch(photoUrl)).blob()

/** For each test a place in the page, and a room of which everything that it asks for is known. */
class Scene {
  readonly place = document.body.appendChild(document.createElement('div'))
  readonly requests: string[] = []
  readonly reads: string[] = []
  /** What the answer to a request waits for. */
  beforeAnswer: (name: string) => Promise<void> | void = () => {}
  readonly #storage = memoryStorage()
  readonly room = createFittingRoom({
    baseUrl: inject('baseUrl'),
    apiKey: 'sandbox-key',
    storage: { ...this.#storage, getItem: (key) => (this.reads.push(key), this.#storage.getItem(key)) },
    timing: { pollIntervalMs: 400 },
    fetch: async (input, init) => {
      const name = `${init?.method} ${new URL(String(input)).pathname.split('/')[1]}`
      this.requests.push(name)
      const response = await fetch(input, init)
      // the service counts the requests of all tests together: what it did not take is sent again
      if (response.status === 429) this.requests.splice(this.requests.indexOf(name), 1)
      else await this.beforeAnswer(name)
      return response
    },
  })

  of(variantId: string): Of {
    return { room: this.room, variantId, tryOn: this.room.tryOn({ productId: '1001', variantId, funnelIds: [11] }) }
  }

  /** What each view's element says to who looks at it. */
  texts(): string[] {
    return [...this.place.querySelectorAll<HTMLElement>('[data-view]')].map(({ innerText }) => innerText.trim())
  }

  submissions(): string[] {
    return this.requests.filter((each) => each === submission)
  }

  end(): void {
    this.room.close()
    this.place.remove()
  }
}

function scenes(): () => Scene {
  let scene: Scene
  beforeEach(() => void (scene = new Scene()))
  afterEach(() => scene.end())
  return () => scene
}

/** What everything must do that shows try-ons, with a real room, the real service and a real browser. */
export function tryOnsSuite(name: string, mount: MountTryOns): void {
  describe(`fitting-room/${name}, try-ons`, () => {
    const scene = scenes()
    const texts = () => scene().texts()
    const submissions = () => scene().submissions()

    it('shows the first view, then every change, and the last view to a component that mounts late; rendering starts nothing', async () => {
      const { place, requests } = scene()
      const shown = scene().of('2001')
      const unmount = mount(place, [shown])
      expect(texts()).toEqual(['restoring'])
      await expect.poll(texts).toEqual(['idle'])
      expect(requests).toEqual([])
      // a framework may leave out a view that the next one follows before it paints
      scene().beforeAnswer = () => expect.poll(texts).toEqual([shown.tryOn.get().state])
      const seen = new Set<string | undefined>()
      const observer = new MutationObserver(() => seen.add(texts()[0]))
      observer.observe(place, { subtree: true, characterData: true, childList: true, attributes: true })
      await shown.tryOn.start(await photo())
      await shown.tryOn.result()
      await expect.poll(texts).toEqual(['final'])
      expect([...seen]).toEqual(expect.arrayContaining(['preparing', 'submitting', 'processing', 'final']))
      expect(submissions()).toHaveLength(1)
      unmount()

      const unmountLate = mount(place, [shown])
      expect(texts()).toEqual(['final'])
      unmountLate()
    })

    it('goes on when it unmounts in mid-POST, and shows the picture of that submission when it mounts again', async () => {
      const { place } = scene()
      const shown = scene().of('2001')
      const answered = deferred()
      scene().beforeAnswer = (name) => (name === submission ? answered.promise : undefined)
      const unmount = mount(place, [shown])
      const started = shown.tryOn.start(await photo())
      await expect.poll(submissions).toHaveLength(1)
      await expect.poll(texts).toEqual(['submitting'])
      unmount()
      const unmountAgain = mount(place, [shown])
      expect(texts()).toEqual(['submitting'])
      unmountAgain()
      answered.resolve()
      await started
      await shown.tryOn.result()
      const unmountLast = mount(place, [shown])
      expect(texts()).toEqual(['final'])
      expect(submissions()).toHaveLength(1)
      unmountLast()
    })

    it('looks into storage once for fifty cards, and asks for nothing', async () => {
      const { place, reads, requests } = scene()
      const cards = Array.from({ length: 50 }, (_, index) => scene().of(String(3000 + index)))
      const unmount = mount(place, cards)
      await expect.poll(texts).toEqual(cards.map(() => 'idle'))
      expect([reads.length, requests]).toEqual([1, []])
      unmount()
    })

    it('keeps two try-ons apart, in two roots each', async () => {
      const { place } = scene()
      const [one, two] = [scene().of('2001'), scene().of('2002')]
      const root = () => place.appendChild(document.createElement('div'))
      const ends = [mount(root(), [one, two]), mount(root(), [two, one])]
      await expect.poll(texts).toEqual(['idle', 'idle', 'idle', 'idle'])
      await one.tryOn.start(await photo())
      await one.tryOn.result()
      await expect.poll(texts).toEqual(['final', 'idle', 'idle', 'final'])
      ends[0]?.()
      await one.tryOn.startOver()
      await expect.poll(texts).toEqual(['idle', 'idle'])
      ends[1]?.()
    })
  })
}

/** What every binding must do beside that. */
export function bindingsSuite(name: string, mount: Mount, follow?: Follow): void {
  tryOnsSuite(name, (place, tryOns) =>
    mount(
      place,
      tryOns.map(({ tryOn }) => tryOn),
      stateOf,
    ),
  )

  describe(`fitting-room/${name}`, () => {
    const scene = scenes()
    const texts = () => scene().texts()

    it('shows one try-on in two roots, and goes on in one when the other unmounts', async () => {
      const { place } = scene()
      const { readable, listeners, set } = counted()
      const [here, there] = [place.appendChild(document.createElement('div')), document.createElement('div')]
      place.append(there)
      const unmount = mount(here, [readable], String)
      const unmountOther = mount(there, [readable], String)
      await expect.poll(() => listeners.size).toBeGreaterThan(0)
      set(1)
      await expect.poll(texts).toEqual(['1', '1'])
      unmount()
      set(2)
      await expect.poll(texts).toEqual(['2'])
      unmountOther()
      await expect.poll(() => listeners.size).toBe(0)
    })

    it('misses no change between its first read and its subscription', async () => {
      let value = 1
      const late: Readable<number> = {
        get: () => value,
        subscribe: () => {
          value = 2
          return { unsubscribe: () => {} }
        },
      }
      const unmount = mount(scene().place, [late], String)
      await expect.poll(texts).toEqual(['2'])
      unmount()
    })

    it('ends its subscription when it unmounts', async () => {
      const { readable, listeners, set } = counted()
      const unmount = mount(scene().place, [readable], String)
      await expect.poll(() => listeners.size).toBe(1)
      set(5)
      await expect.poll(texts).toEqual(['5'])
      unmount()
      await expect.poll(() => listeners.size).toBe(0)
      set(6)
      expect(texts()).toEqual([])
    })

    const selects = async (select: Follow) => {
      const [one, other] = [counted(), counted()]
      one.set(1)
      other.set(2)
      const { select: choose, unmount } = select(scene().place, [one.readable, other.readable], String)
      await expect.poll(texts).toEqual(['1'])
      choose(1)
      await expect.poll(texts).toEqual(['2'])
      one.set(10)
      other.set(20)
      await expect.poll(texts).toEqual(['20'])
      await expect.poll(() => [one.listeners.size, other.listeners.size]).toEqual([0, 1])
      unmount()
      await expect.poll(() => other.listeners.size).toBe(0)
    }
    if (follow) it('follows what is selected, at once and with one subscription', () => selects(follow))

    it('binds whatever has get and subscribe, and what has an initial value no less', async () => {
      const { readable, set } = counted()
      const unmount = mount(scene().place, [{ ...readable, initial: -1 }], String)
      await expect.poll(texts).toEqual(['0'])
      set(1)
      await expect.poll(texts).toEqual(['1'])
      unmount()
    })

    it('binds what has its methods from a class, and ends its subscription there', async () => {
      const { readable, listeners, set } = counted()
      class Subscription {
        #ended: { unsubscribe(): void }
        constructor(ended: { unsubscribe(): void }) {
          this.#ended = ended
        }
        unsubscribe() {
          this.#ended.unsubscribe()
        }
      }
      class Count {
        #readable = readable
        get() {
          return this.#readable.get()
        }
        subscribe(onChange: (value: number) => void) {
          return new Subscription(this.#readable.subscribe(onChange))
        }
      }
      const unmount = mount(scene().place, [new Count()], String)
      await expect.poll(texts).toEqual(['0'])
      await expect.poll(() => listeners.size).toBe(1)
      set(1)
      await expect.poll(texts).toEqual(['1'])
      unmount()
      await expect.poll(() => listeners.size).toBe(0)
    })

    it('shows the stores of a room beside a try-on', async () => {
      const { room } = scene()
      const { tryOn } = scene().of('2001')
      const readables: Readable<TryOnView | Visitor>[] = [tryOn, room.visitor]
      const unmount = mount(scene().place, readables, (value) =>
        'state' in value ? value.state : String(value.uniqueUserId !== null),
      )
      await expect.poll(texts).toEqual(['idle', 'false'])
      await tryOn.start(await photo())
      await tryOn.result()
      await expect.poll(texts).toEqual(['final', 'true'])
      unmount()
    })
  })
}

/** Hydrates a view in what a server has rendered of it; returns what unmounts it. */
type Hydrate = (place: HTMLElement, of: Readable<number>) => Promise<() => void> | (() => void)

/** The page was rendered on a server, and something is there by the time that it is hydrated. */
export function hydrationSuite(name: string, served: string, hydrate: Hydrate): void {
  it(`${name} hydrates what a server has rendered, and then shows what there is`, async () => {
    const complaints = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn')]
    const place = document.body.appendChild(document.createElement('div'))
    place.innerHTML = served
    const paragraph = place.querySelector('p')
    expect(paragraph?.textContent).toBe('0')
    const { readable, listeners, set } = counted()
    set(5)
    const unmount = await hydrate(place, { ...readable, initial: 0 })
    await expect.poll(() => place.querySelector('p')?.textContent).toBe('5')
    expect(place.querySelector('p')).toBe(paragraph)
    const { value = '5' } = paragraph?.dataset ?? {}
    expect(value).toBe('5')
    for (const complaint of complaints) expect(complaint).not.toHaveBeenCalled()
    unmount()
    await expect.poll(() => listeners.size).toBe(0)
    place.remove()
    vi.restoreAllMocks()
  })
}

/** A number that a test sets, and who listens to it. */
export function counted() {
  let value = 0
  const listeners = new Set<(value: number) => void>()
  const readable: Readable<number> = {
    get: () => value,
    subscribe(listener) {
      listeners.add(listener)
      return { unsubscribe: () => void listeners.delete(listener) }
    },
  }
  const set = (next: number) => {
    value = next
    for (const listener of listeners) listener(next)
  }
  return { readable, listeners, set }
}
