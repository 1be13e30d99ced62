import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { memoryStore, serve, type Job } from '@fitting-room/service'
import { expect } from 'vitest'
import { bundled } from '../support/bundled.ts'
import { undrawn } from '../support/undrawn.ts'
import { openLedger } from '../support/open-ledger.ts'
import { openTestStore } from '../support/test-store.ts'
import { openSandbox } from '../support/open-sandbox.ts'
import type { Load, Report } from './load.ts'
import { openProxy } from './open-proxy.ts'

/** What differs from load to load. */
export type Step = Partial<Pick<Load, 'killAt' | 'failing'>> & {
  /** It is killed as the service accepts its submission. */
  killOnAccept?: true
  /** The point at which the proxy is killed, which comes back at once. */
  killProxyAt?: string
}

/** Every load of one shopper, in order, and the jobs that the service knows of them. */
interface Story {
  loads: readonly Report[]
  paid: readonly string[]
  /** The points that the proxy has passed, where there is one, before it was killed. */
  proxyPoints: readonly string[]
}

export interface Shop {
  /** A shopper who has never been here loads the page once for each step, one after the other. */
  shopper(steps: readonly Step[]): Promise<Story>
  close(): Promise<void>
}

/** The real service, and pages of it that run in processes of their own, on storage of as many tiers. */
export async function openShop(tiers: 1 | 2, way: 'directly' | 'through a proxy' = 'directly'): Promise<Shop> {
  /** The service's own ledger: which jobs were paid for which shopper. */
  const ledgers = new Map<string, Set<string>>()
  const onAccept = new Map<string, () => void>()
  let shoppers = 0
  // how many tiers a page has is nothing to the service, and a folder costs a slow machine minutes
  const { store: kept, release, ...secret } = tiers === 1 ? await openTestStore() : inMemory()
  const note = ({ id, visitorId }: Job) => {
    ledgers.set(visitorId, (ledgers.get(visitorId) ?? new Set()).add(id))
    onAccept.get(visitorId)?.()
  }
  const { store } = openLedger(note, kept)
  const sandbox = openSandbox({ previewAfterMs: 60, readyAfterMs: 150 })
  const stores = sandbox.stores.map((each) => ({ ...each, tryOnCap: null, credits: null }))
  const config = { ...sandbox, stores, trustedProxies: ['127.0.0.1'] }
  const server = await serve({ config, store, ...secret, ...undrawn }, 0)
  const page = await bundled(new URL('./child.ts', import.meta.url))
  const proxyProgram = await bundled(new URL('./proxy-child.ts', import.meta.url))

  function run(load: Load, onSpawn: (kill: () => void) => void): Promise<Report> {
    const running = spawn(process.execPath, [page.path], { env: { ...process.env, LOAD: JSON.stringify(load) } })
    onSpawn(() => running.kill('SIGKILL'))
    let said = ''
    let failure = ''
    running.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    running.stderr.on('data', (chunk: Buffer) => (failure += chunk.toString()))
    return new Promise((resolve, reject) =>
      running.on('close', (_, signal) => {
        if (said !== '') resolve(JSON.parse(said) as Report)
        else if (signal === 'SIGKILL') resolve(killedFromOutside)
        else reject(new Error(`${JSON.stringify(load)}: ${failure}`))
      }),
    )
  }

  return {
    async shopper(steps) {
      const folder = await mkdtemp(join(tmpdir(), 'kill-'))
      const name = basename(folder)
      const number = ++shoppers
      const address = `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`
      const folders = ['first', 'second'].slice(0, tiers).map((tier) => join(folder, tier))
      const loads: Report[] = []
      const proxyKillAt = steps.find(({ killProxyAt }) => killProxyAt !== undefined)?.killProxyAt ?? null
      const proxy =
        way === 'directly'
          ? null
          : await openProxy(proxyProgram.path, { baseUrl: server.url, address, killAt: proxyKillAt })
      const baseUrl = proxy?.url ?? server.url
      for (const { killAt = null, failing = false, killOnAccept } of steps) {
        const load = { folders, failing, killAt, baseUrl, shopper: name, address }
        loads.push(await run(load, (kill) => killOnAccept && onAccept.set(name, kill)))
        onAccept.delete(name)
      }
      await rm(folder, { recursive: true })
      await proxy?.close()
      return { loads, paid: [...(ledgers.get(name) ?? [])], proxyPoints: proxy?.points() ?? [] }
    },
    async close() {
      await server.close().finally(release)
      await Promise.all([page, proxyProgram].map(({ remove }) => remove()))
    },
  }
}

const inMemory = () => ({ store: memoryStore(), release: async () => {} })

const killedFromOutside: Report = {
  killedAt: 'from outside',
  states: [],
  state: 'restoring',
  jobId: null,
  problem: null,
  durable: false,
  points: [],
}

/** What went against a promise, each with where. */
interface Totals {
  kills: number
  final: number
  outcomeUnknown: number
  paidTwice: string[]
  lost: string[]
  untrue: string[]
}

/** Judges a story whose last load was left alone, with all of its storage. */
function judge(where: string, { loads, paid }: Story, totals: Totals): void {
  const told = new Set(loads.flatMap(({ jobId }) => jobId ?? []))
  const last = loads.at(-1)
  totals.kills++
  if (last?.state === 'final') totals.final++
  if (last?.state === 'outcomeUnknown') totals.outcomeUnknown++
  // one consent, one job at the most; another start only where none was begun
  if (paid.length > 1) totals.paidTwice.push(where)
  // what was told once is there to the end, and the end is one that the shopper can see
  const isEnd = last?.state === 'final' || (last?.state === 'outcomeUnknown' && last.jobId === null)
  if (!isEnd || [...told].some((jobId) => jobId !== last.jobId)) totals.lost.push(where)
  // a picture is of the job that was paid
  const made = loads.filter(({ state }) => state === 'final')
  if (made.some(({ jobId }) => jobId === null || !paid.includes(jobId))) totals.untrue.push(where)
}

/** How many shoppers there are at a time: most of their time they wait for a dead page's lease to end. */
const atOnce = 20

/** Who is killed, and where. */
interface Victim {
  /** The points of a story in which nobody was. */
  points(story: Story): readonly string[]
  /** The story's steps, with a death at that point. */
  steps(steps: readonly Step[], killAt: string): readonly Step[]
}

/** The page in its load `at`. */
export const pageIn = (at: number): Victim => ({
  points: ({ loads }) => loads[at]?.points ?? [],
  steps: (steps, killAt) => steps.map((step, index) => (index === at ? { ...step, killAt } : step)),
})

/** The proxy behind every load. */
export const proxyBehind: Victim = {
  points: ({ proxyPoints }) => proxyPoints,
  steps: (steps, killProxyAt) => steps.map((step) => ({ ...step, killProxyAt })),
}

/**
 * Tells the same story once for every point of its victim, who is killed there, and prints what came of it; resolves with
 * the names of the points.
 */
export async function killEverywhere(
  shop: Shop,
  name: string,
  steps: readonly Step[],
  victim: Victim,
): Promise<readonly string[]> {
  const points = victim.points(await shop.shopper(steps))
  const totals: Totals = { kills: 0, final: 0, outcomeUnknown: 0, paidTwice: [], lost: [], untrue: [] }
  const left = [...points]
  const worker = async () => {
    for (let killAt = left.shift(); killAt !== undefined; killAt = left.shift()) {
      const story = await shop.shopper(victim.steps(steps, killAt))
      judge(`${killAt}: ${JSON.stringify(story)}`, story, totals)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  const { kills, final, outcomeUnknown, paidTwice, lost, untrue } = totals
  console.log(
    `kill points, ${name}: ${kills}, final ${final}, outcomeUnknown ${outcomeUnknown}; ` +
      `${paidTwice.length} paid twice, ${lost.length} lost, ${untrue.length} untrue`,
  )
  expect({ paidTwice, lost, untrue }).toEqual({ paidTwice: [], lost: [], untrue: [] })
  return points
}
