import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FlowStorage } from 'fitting-room'
import { storageChain } from 'fitting-room/storage/chain'
import type { Requested, Situation } from '../../src/rules/outcome.ts'
import { any, refused, testStorage, type TestStorage } from '../support/storage.ts'
import { expectedEnd, limitMs, openFlow, type Flow } from './flow.ts'
import { wireFaults } from './wire-faults.ts'

let flow: Flow
beforeEach(async () => {
  flow = await openFlow()
})
afterEach(() => flow.close())

/** What each next load of the page sees of one disk. */
interface Disk {
  load(): FlowStorage
  /** A load in which a part of it fails; null where it is in one part. */
  failing(): FlowStorage | null
  isLeased(): boolean
}

const hasLease = ({ items }: TestStorage) => [...items.keys()].some((key) => key.endsWith(':lease'))

/** Storages with an atomic update that pages have in common, and no Web Locks: who runs a try-on is a lease. */
const disks: Record<string, () => Disk> = {
  'one storage in lease mode'() {
    const disk = testStorage()
    return { load: () => disk.another(), failing: () => null, isLeased: () => hasLease(disk) }
  },
  'two tiers in lease mode'() {
    const [first, second] = [testStorage(), testStorage()]
    const load = () => storageChain([first.another(), second.another()])
    const failing = () => {
      const tier = first.another()
      tier.meet(any, refused)
      return storageChain([tier, second.another()])
    }
    return { load, failing, isLeased: () => [first, second].some(hasLease) }
  },
}

/** Where a fault costs a payment, a result or a photo; the rest of the product is told with a storage of one page. */
const operations: [Requested, string][] = [
  ['createUpload', 'POST /uploads'],
  ['putPhoto', 'PUT /photos'],
  ['createGeneration', 'POST /generations'],
  ['getGeneration', 'GET /generations'],
]

/** Each situation in the first of its ways; a lost one in all three, as they differ in what the service has done. */
const cells = operations.flatMap(([operation, request]) =>
  Object.entries(wireFaults).flatMap(([situation, ways]) =>
    ways
      .slice(0, situation === 'lost' ? 3 : 1)
      .map(([how, fault]) => ({ operation, request, situation: situation as Situation, how, fault })),
  ),
)

const totals = { faults: 0, paidTwice: 0, lost: 0, untrue: 0 }
afterAll(() => console.log(`at the socket, in lease mode and on two tiers: ${JSON.stringify(totals)}`))

describe.each(Object.entries(disks))('a fault at the socket, with %s', (_, newDisk) => {
  it.each(cells.map((cell) => [cell.operation, cell.situation, cell.how, cell] as const))(
    '%s, %s: %s; the next page shows where it ended',
    async (operation, situation, __, { fault, request }) => {
      const disk = newDisk()
      flow.open(operation, 3 * limitMs, disk.load())
      flow.service.plan(request, fault, 'once')
      expect(await flow.end(operation)).toBe(expectedEnd(operation, situation))
      const { attempt, state } = flow.tryOn.get()
      expect(disk.isLeased()).toBe(true)
      const sent = flow.submissions()

      const failing = disk.failing()
      if (failing) {
        flow.open(operation, 3 * limitMs, failing)
        await flow.read()
        expect(flow.tryOn.get()).toMatchObject({ state: 'idle', problem: { kind: 'storageUnreadable' } })
      }

      flow.open(operation, 3 * limitMs, disk.load())
      await flow.rest()
      totals.faults++
      if (flow.service.jobs.size > 1) totals.paidTwice++
      if (flow.tryOn.get().attempt?.jobId !== attempt?.jobId) totals.lost++
      if (flow.tryOn.get().state !== state) totals.untrue++
      expect(totals).toMatchObject({ paidTwice: 0, lost: 0, untrue: 0 })
      expect(flow.submissions()).toBe(sent)
    },
  )
})
