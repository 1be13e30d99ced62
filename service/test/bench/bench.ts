import { fork, spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { keyHeader } from 'fitting-room/contract'
import autocannon, { type Request } from 'autocannon'
import { startPostgresServer } from '../postgres-server.ts'
import type { Served, Stand, Wanted } from './served.ts'

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '12' }, only: { type: 'string' } } })
const seconds = Number(values.seconds)
/** How long each is asked before the other one has its turn, where two are compared: what else the machine does changes with the minute. */
const turnSeconds = 2
const connections = 256
/** From how many addresses it is asked, so that none of them is refused. */
const addresses = 60_000

const file = fileURLToPath(new URL('./served.ts', import.meta.url))
const postgres = await startPostgresServer()
const folder = await mkdtemp(join(tmpdir(), 'bench-'))

const placeOf = async (kind: Wanted['kind']) =>
  kind === 'server' ? postgres.newDatabase() : join(folder, randomUUID())

/** A process of its own until `use` has done with what it says. */
async function withProcess<A, T>(
  wanted: Wanted,
  args: string[],
  use: (said: A, child: ChildProcess) => Promise<T>,
): Promise<T> {
  const child = fork(file, [JSON.stringify(wanted), ...args])
  try {
    const [said] = (await once(child, 'message')) as [A]
    return await use(said, child)
  } finally {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
}

const address = () => {
  const number = Math.floor(Math.random() * addresses)
  return `10.0.${number >> 8}.${number & 255}`
}
const headersOf = () => ({
  [keyHeader]: 'sandbox-key',
  'x-forwarded-for': address(),
  'content-type': 'application/json',
})

interface Rate {
  perSecond: number
  p50: number
  p99: number
}

const shoot = async (url: string, next: (request: Request) => Request, duration: number): Promise<Rate> => {
  const requests = [{ setupRequest: next }]
  const { requests: rate, latency, non2xx, errors } = await autocannon({ url, connections, duration, requests })
  if (non2xx + errors > 0) throw new Error(`${non2xx} refusals and ${errors} errors are no bench`)
  return { perSecond: rate.average, p50: latency.p50, p99: latency.p99 }
}

/** Asks for some seconds, after some that do not count. */
async function rateOf(url: string, next: (request: Request) => Request): Promise<Rate> {
  await shoot(url, next, turnSeconds)
  return shoot(url, next, seconds)
}

const poll = ({ url, ids }: Served, stand: Stand) =>
  shoot(
    url,
    (request) => ({
      ...request,
      path: `/generations/${ids[stand][Math.floor(Math.random() * ids[stand].length)]}`,
      headers: headersOf(),
    }),
    turnSeconds,
  )

const medianOf = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const meanOf = (values: number[]) => values.reduce((sum, each) => sum + each, 0) / values.length

const together = (rates: Rate[]): Rate => ({
  perSecond: meanOf(rates.map(({ perSecond }) => perSecond)),
  p50: medianOf(rates.map(({ p50 }) => p50)),
  p99: medianOf(rates.map(({ p99 }) => p99)),
})

/** Polls the service and a bare server by turns; each turn's ratio as well. */
async function pollsBeside(bare: Served, served: Served, stand: Stand) {
  await poll(bare, stand)
  await poll(served, stand)
  const turns: { own: Rate; other: Rate }[] = []
  while (turns.length < seconds / turnSeconds)
    turns.push({ other: await poll(bare, stand), own: await poll(served, stand) })
  const ratios = turns.map(({ own, other }) => own.perSecond / other.perSecond)
  return {
    rate: together(turns.map(({ own }) => own)),
    of: together(turns.map(({ other }) => other)),
    ratios: ratios.toSorted((a, b) => a - b),
  }
}

const submission = JSON.stringify({
  imageUrl: 'https://pictures.example/photo.jpeg',
  productId: '1001',
  variantId: '2001',
  funnelId: 11,
})
const submissions = (wanted: Wanted) =>
  withProcess<Served, Rate>(wanted, [], ({ url }) =>
    rateOf(url, (request) => ({
      ...request,
      method: 'POST',
      path: '/generations',
      headers: headersOf(),
      body: submission.replace('{', `{"uniqueUserId":"${randomUUID()}",`),
    })),
  )

/** What a process and all that it has begun take of memory now, in MB. */
function memoryOf(pid: number): number {
  try {
    const [, resident = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    const begun = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return begun.reduce((sum, child) => sum + memoryOf(Number(child)), Number(resident) / 1024)
  } catch {
    // it has ended meanwhile
    return 0
  }
}

/** How long other requests wait meanwhile, one each 10 ms, and what the service's process, and it with all that draws, take at the most. */
const besides = async (run: (url: string) => Promise<unknown>) =>
  withProcess<Served, string[]>(
    { kind: 'folder', place: await placeOf('folder'), jobs: 1_000 },
    [],
    async (served, child) => {
      const { url, ids } = served
      const waits: number[] = []
      const ask = async () => {
        const begun = performance.now()
        const answer = await fetch(`${url}/generations/${ids.finished[0]}`, { headers: headersOf() })
        await answer.arrayBuffer()
        if (!answer.ok) throw new Error(`another request was answered ${answer.status}`)
        waits.push(performance.now() - begun)
      }
      for (let at = 0; at < 100; at++) await ask()
      waits.length = 0
      // what it took to begin does not count
      writeFileSync(`/proc/${child.pid}/clear_refs`, '5')
      child.send('begin')
      await once(child, 'message')
      let isOver = false
      let all = 0
      const sampling = setInterval(() => (all = Math.max(all, memoryOf(child.pid!))), 250)
      const done = run(url).finally(() => (isOver = true))
      while (!isOver) {
        await ask()
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      await done
      clearInterval(sampling)
      const sorted = waits.toSorted((a, b) => a - b)
      const [, peak = '0'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
      child.send('end')
      const [pause] = (await once(child, 'message')) as [number]
      const [longest = 0, median = 0] = [sorted.at(-1), sorted[sorted.length >> 1]]
      return [
        `${Math.round(pause)} ms`,
        `${Math.round(longest)} ms`,
        `${median.toFixed(1)} ms`,
        `${Math.round(Number(peak) / 1024)} MB`,
        `${Math.round(all)} MB`,
      ]
    },
  )

const load = () => loadavg()[0]?.toFixed(1)
const row = (...cells: (string | number)[]) => console.log(`| ${cells.join(' | ')} |`)
const cellsOf = ({ perSecond, p50, p99 }: Rate, of: number) => [
  Math.round(perSecond),
  (perSecond / of).toFixed(2),
  `${p50} ms`,
  `${p99} ms`,
  load() ?? '',
]

row('What', 'a second', 'ratio', 'p50', 'p99', 'load before and beside')
const wants = (what: string) => what.includes(values.only ?? '')
const kinds = ['memory', 'folder', 'server'] as const
if (wants('polls')) {
  await withProcess<Served, void>({ kind: 'hono', place: '', jobs: 0 }, [], async (bare) => {
    for (const kind of kinds)
      for (const jobs of [1_000, 100_000])
        await withProcess<Served, void>({ kind, place: await placeOf(kind), jobs }, [], async (served) => {
          for (const stand of ['underWay', 'finished'] as const) {
            const { rate, of, ratios } = await pollsBeside(bare, served, stand)
            const spread = [ratios.at(0), ratios.at(-1)].map((ratio) => ratio?.toFixed(2)).join(' to ')
            row('polls, hono with nothing behind it', ...cellsOf(of, of.perSecond))
            row(`polls, ${stand}, ${kind}, ${jobs} jobs (${spread} by turns)`, ...cellsOf(rate, of.perSecond))
          }
        })
  })
}
if (wants('submissions')) {
  for (const kind of ['folder', 'server'] as const) {
    const queue: Wanted = { kind, place: await placeOf(kind), jobs: 0 }
    const alone = await withProcess<number, number>(
      queue,
      ['queue', String(seconds), String(connections)],
      async (rate) => rate,
    )
    row(`submissions, ${kind}, the queue alone`, Math.round(alone), '1.00', '', '', load() ?? '')
    for (const jobs of [1_000, 100_000])
      row(
        `submissions, ${kind}, ${jobs} jobs`,
        ...cellsOf(await submissions({ kind, place: await placeOf(kind), jobs }), alone),
      )
  }
  const memory = await submissions({ kind: 'memory', place: '', jobs: 1_000 })
  row('submissions, memory', Math.round(memory.perSecond), '', `${memory.p50} ms`, `${memory.p99} ms`, load() ?? '')
}
if (wants('start')) {
  const begun = performance.now()
  const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
  const child = spawn(process.execPath, [
    ...process.execArgv,
    main,
    '--sandbox',
    '--port',
    '0',
    '--data',
    join(folder, 'new'),
  ])
  await once(child.stdout, 'data')
  row('the first start in a new folder', `${((performance.now() - begun) / 1000).toFixed(1)} s`)
  child.kill('SIGKILL')
  await once(child, 'close')
}
if (wants('abuse')) {
  row(
    'Beside',
    'longest pause of the process',
    'longest wait of a poll',
    'median',
    'memory at the most',
    'with all that draws',
  )
  const abuser = fork(fileURLToPath(new URL('./abuse.ts', import.meta.url)))
  // what it takes others take from the service elsewhere
  setPriority(abuser.pid!, 10)
  const [kinds] = (await once(abuser, 'message')) as [string[]]
  row('nothing', ...(await besides(() => new Promise((resolve) => setTimeout(resolve, 5_000)))))
  for (const [at, what] of kinds.entries()) {
    const run = async (url: string) => {
      abuser.send({ at, url })
      await once(abuser, 'message')
    }
    row(what, ...(await besides(run)))
  }
  abuser.kill()
}
await postgres.close()
await rm(folder, { recursive: true, force: true })
