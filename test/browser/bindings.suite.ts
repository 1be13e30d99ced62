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

/** What every binding must do, with a real room, the real service and a real browser. */
export function bindingsSuite(name: string, mount: Mount, follow?: Follow): void {
  describe(`fitting-room/${name}`, () => {
    let room: FittingRoom
    let place: HTMLElement
    let requests: string[]
    let reads: string[]
    /** What the answer to a submission waits for. */
    let answer: Promise<void> | null
    const photo = async () => await (await fetch(photoUrl)).blob()
    const texts = () => [...place.querySelectorAll('[data-view]')].map(({ textContent }) => textContent)
    const tryOnOf = (variantId: string) => room.tryOn({ productId: '1001', variantId, funnelIds: [11] })
    const stateOf = ({ state }: TryOnView) => state
    const submissions = () => requests.filter((each) => each === submission)

    beforeEach(() => {
      requests = []
      reads = []
      answer = null
      const storage = memoryStorage()
      place = document.body.appendChild(document.createElement('div'))
      room = createFittingRoom({
        baseUrl: inject('baseUrl'),
        apiKey: 'sandbox-key',
        storage: { ...storage, getItem: (key) => (reads.push(key), storage.getItem(key)) },
        timing: { pollIntervalMs: 400 },
        fetch: async (input, init) => {
          const name = `${init?.method} ${new URL(String(input)).pathname.split('/')[1]}`
          requests.push(name)
          const response = await fetch(input, init)
          // the service counts the requests of all tests together: what it did not take is sent again
          if (response.status === 429) requests.splice(requests.indexOf(name), 1)
          else if (name === submission) await answer
          return response
        },
      })
    })
    afterEach(() => {
      room.close()
      place.remove()
    })

    it('shows the first view, then every change, and the last view to a component that mounts late; rendering starts nothing', async () => {
      const tryOn = tryOnOf('2001')
      const unmount = mount(place, [tryOn], stateOf)
      expect(texts()).toEqual(['restoring'])
      await expect.poll(texts).toEqual(['idle'])
      expect(requests).toEqual([])
      const seen = new Set<string | null>()
      const observer = new MutationObserver(() => seen.add(texts()[0] ?? null))
      observer.observe(place, { subtree: true, characterData: true, childList: true })
      await tryOn.start(await photo())
      await tryOn.result()
      await expect.poll(texts).toEqual(['final'])
      expect([...seen]).toEqual(expect.arrayContaining(['preparing', 'submitting', 'processing', 'final']))
      expect(submissions()).toHaveLength(1)
      unmount()

      const unmountLate = mount(place, [tryOn], stateOf)
      expect(texts()).toEqual(['final'])
      unmountLate()
    })

    it('goes on when it unmounts in mid-POST, and shows the picture of that submission when it mounts again', async () => {
      const tryOn = tryOnOf('2001')
      const answered = deferred()
      answer = answered.promise
      const unmount = mount(place, [tryOn], stateOf)
      const started = tryOn.start(await photo())
      await expect.poll(submissions).toHaveLength(1)
      await expect.poll(texts).toEqual(['submitting'])
      unmount()
      const unmountAgain = mount(place, [tryOn], stateOf)
      expect(texts()).toEqual(['submitting'])
      unmountAgain()
      answered.resolve()
      await started
      await tryOn.result()
      const unmountLast = mount(place, [tryOn], stateOf)
      expect(texts()).toEqual(['final'])
      expect(submissions()).toHaveLength(1)
      unmountLast()
    })

    it('looks into storage once for fifty cards, and asks for nothing', async () => {
      const cards = Array.from({ length: 50 }, (_, index) => tryOnOf(String(3000 + index)))
      const unmount = mount(place, cards, stateOf)
      await expect.poll(texts).toEqual(cards.map(() => 'idle'))
      expect([reads.length, requests]).toEqual([1, []])
      unmount()
    })

    it('shows one try-on in two roots, and goes on in one when the other unmounts', async () => {
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
      const unmount = mount(place, [late], String)
      await expect.poll(texts).toEqual(['2'])
      unmount()
    })

    it('ends its subscription when it unmounts', async () => {
      const { readable, listeners, set } = counted()
      const unmount = mount(place, [readable], String)
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
      const { select: choose, unmount } = select(place, [one.readable, other.readable], String)
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
      const unmount = mount(place, [{ ...readable, initial: -1 }], String)
      await expect.poll(texts).toEqual(['0'])
      set(1)
      await expect.poll(texts).toEqual(['1'])
      unmount()
    })

    it('keeps two try-ons and the shared stores of a page apart', async () => {
      const [one, two] = [tryOnOf('2001'), tryOnOf('2002')] as [TryOn, TryOn]
      const readables: Readable<TryOnView | Visitor>[] = [one, two, room.visitor]
      const unmount = mount(place, readables, (value) =>
        'state' in value ? value.state : String(value.uniqueUserId !== null),
      )
      await expect.poll(texts).toEqual(['idle', 'idle', 'false'])
      await one.start(await photo())
      await one.result()
      await expect.poll(texts).toEqual(['final', 'idle', 'true'])
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
