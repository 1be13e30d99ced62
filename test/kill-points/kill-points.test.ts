import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serve, type RunningServer } from '@fitting-room/service'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { blankPictures } from '../support/blank-pictures.ts'
import { fastClock } from '../support/fast-clock.ts'
import { openLedger } from '../support/open-ledger.ts'
import { openSandbox } from '../support/open-sandbox.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

let server: RunningServer
/** The service's own ledger: which jobs were paid for which shopper. */
const ledgers = new Map<string, Set<string>>()
/** Kills a shopper's page as soon as its submission is accepted. */
const killOnAccept = new Map<string, () => void>()
/** How many shoppers are killed at a time: most of their time they wait for a dead page's lease to end. */
const atOnce = 12

beforeAll(async () => {
  const { store } = openLedger(({ id, visitorId }) => {
    const paid = ledgers.get(visitorId) ?? new Set()
    ledgers.set(visitorId, paid.add(id))
    killOnAccept.get(visitorId)?.()
  })
  const config = openSandbox({ previewAfterMs: 2000, readyAfterMs: 5000 })
  const [main] = config.stores
  const shoppers = { ...config, stores: main ? [{ ...main, tryOnCap: null, credits: null }] : [] }
  server = await serve({ config: shoppers, store, generator: blankPictures, clock: fastClock(20) }, 0)
})
afterAll(() => server.close())

interface End {
  killedAt: string | null
  state: string
  jobId: string | null
  points: number
  found: string
}

function run(folder: string, killAt: number, onSpawn: (kill: () => void) => void = () => {}): Promise<End> {
  const child = spawn(process.execPath, ['--conditions=fitting-room-source', here('./child.ts')], {
    env: {
      ...process.env,
      BASE_URL: server.url,
      FOLDER: folder,
      SHOPPER: basename(folder),
      KILL_AT: String(killAt),
      PHOTO: here('../../examples/sample/person.png'),
    },
  })
  onSpawn(() => child.kill('SIGKILL'))
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  return new Promise((resolve, reject) =>
    child.on('close', (_, signal) => {
      const killed = { state: 'killed', jobId: null, points: 0, found: '' }
      if (signal === 'SIGKILL') resolve({ ...killed, killedAt: err.replace('killed at ', '') })
      else if (out === '') reject(new Error(err))
      else resolve({ ...(JSON.parse(out) as Omit<End, 'killedAt'>), killedAt: null })
    }),
  )
}

/** What a run that went on after a kill may say, given what the service knows. */
function judge(killedAt: string, paid: string[], end: End): void {
  // never paid twice: one consent, one job at the most; a second start only where none was begun
  expect([killedAt, paid.length]).toEqual([killedAt, Math.min(1, paid.length)])
  if (end.state === 'final') {
    // never lost, never untrue: the picture is of the job that was paid
    expect([killedAt, paid]).toEqual([killedAt, [end.jobId]])
  } else {
    // the submission was out, or may have been: unknown, and nothing else
    expect([killedAt, end.state, end.jobId]).toEqual([killedAt, 'outcomeUnknown', null])
  }
}

/** A shopper's page is killed, opened again on the same storage, and left alone. */
async function shopper(kill: (folder: string) => Promise<End>): Promise<{ killed: End; end: End; paid: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'kill-'))
  const killed = await kill(folder)
  // the last points may be passed when a poll comes sooner
  const end = killed.killedAt === null ? killed : await run(folder, 0)
  await rm(folder, { recursive: true })
  return { killed, end, paid: [...(ledgers.get(basename(folder)) ?? [])] }
}

it('keeps the promises when it is killed at any point', async () => {
  const { end: whole } = await shopper((folder) => run(folder, 0))
  expect(whole.state).toBe('final')
  expect(whole.points).toBeGreaterThan(40)

  const ends = { final: 0, outcomeUnknown: 0 }
  let next = 1
  const worker = async () => {
    while (next <= whole.points) {
      const at = next++
      const { killed, end, paid } = await shopper((folder) => run(folder, at))
      judge(`${at}: ${killed.killedAt ?? 'the end'}`, paid, end)
      ends[end.state as keyof typeof ends]++
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  const { final, outcomeUnknown } = ends
  expect(final + outcomeUnknown).toBe(whole.points)
  console.log(
    `kill points: ${whole.points}, final ${final}, outcomeUnknown ${outcomeUnknown}; 0 paid twice, 0 lost, 0 untrue`,
  )
})

it('keeps the promises when it is killed as the service accepts', async () => {
  const { end, paid } = await shopper((folder) => run(folder, 0, (kill) => killOnAccept.set(basename(folder), kill)))
  expect(paid).toHaveLength(1)
  expect([end.found, end.state, end.jobId]).toEqual(['outcomeUnknown', 'outcomeUnknown', null])
})
