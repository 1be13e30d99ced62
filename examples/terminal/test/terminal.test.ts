import { spawn } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { serve, type RunningServer } from '@fitting-room/service'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openSandbox } from '../../../test/support/open-sandbox.ts'
import { openTestStore, type TestStore } from '../../../test/support/test-store.ts'
import { exitCodes } from '../exit-codes.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const photo = here('../../sample/person.png')

/** How far the service's time is ahead, in ms. */
let ahead = 0
let server: RunningServer
let kept: TestStore
let folder: string
beforeAll(async () => {
  // the service's time leaps, and jobs do not
  const config = { ...openSandbox({ previewAfterMs: 0, readyAfterMs: 0 }), giveUpAfterMinutes: 1e9 }
  kept = await openTestStore()
  const { store, uploadSecret } = kept
  server = await serve({ config, store, uploadSecret, clock: { now: () => Date.now() + ahead } }, 0)
})
afterAll(() => server.close().finally(kept.release))
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'try-on-'))
})
afterEach(() => rm(folder, { recursive: true }))

interface Run {
  ended: Promise<{ code: number | null; out: string; err: string }>
  says: (text: string) => Promise<string>
  kill: () => void
}

function run(variant: string, ...more: string[]): Run {
  const productId = variant.startsWith('9') ? '1009' : '1001'
  const args = ['--variant', variant, '--product', productId, '--funnel', '11', '--out', join(folder, 'out.jpeg')]
  const child = spawn(
    process.execPath,
    ['--conditions=fitting-room-source', here('../main.ts'), ...args, '--base-url', server.url, ...more],
    { env: { ...process.env, FITTING_ROOM_API_KEY: 'sandbox-key', INIT_CWD: folder } },
  )
  let out = ''
  let err = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const says = (text: string) =>
    new Promise<string>((resolve) => {
      const look = () => err.includes(text) && resolve(err)
      child.stderr.on('data', look)
      look()
    })
  const ended = new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
    child.on('close', (code) => resolve({ code, out, err })),
  )
  return { ended, says, kill: () => child.kill('SIGKILL') }
}

const jobIn = (text: string) => /job ([0-9a-f-]{36})/.exec(text)?.[1]

describe('the terminal', () => {
  it('writes the picture and exits with 0', async () => {
    const { code, out } = await run('2001', '--photo', photo).ended
    expect([code, out.trim()]).toEqual([exitCodes.final, join(folder, 'out.jpeg')])
    const picture = await readFile(join(folder, 'out.jpeg'))
    expect([...picture.subarray(0, 3)]).toEqual([0xff, 0xd8, 0xff])
  })

  it('killed while the job runs and run again, it resumes the same job', async () => {
    const slow = '9002'
    const first = run(slow, '--photo', photo, '--state', 'state')
    const job = jobIn(await first.says('generating (estimate) (job'))
    first.kill()
    await first.ended
    ahead += 60_000
    const second = await run(slow, '--state', 'state').ended
    expect(second.code).toBe(exitCodes.final)
    expect(jobIn(second.err)).toBe(job)
  })

  it('run again after the end, it gives the same picture without a new job', async () => {
    await run('2001', '--photo', photo, '--state', 'state').ended
    const again = await run('2001', '--state', 'state').ended
    expect(again.code).toBe(exitCodes.final)
    expect(again.err).not.toContain('submitting')
  })

  it('an unknown outcome stays unknown until --again says to pay', async () => {
    const state = ['--photo', photo, '--state', 'state']
    expect((await run('9004', ...state).ended).code).toBe(exitCodes.outcomeUnknown)
    const asked = await run('9004', ...state).ended
    expect(asked.code).toBe(exitCodes.outcomeUnknown)
    expect(asked.err).toContain('retry() pays for a new one')
    expect(asked.err).not.toContain('submitting')
  })

  it.each([
    ['9001', exitCodes.failed],
    ['9006', exitCodes.protocolError],
    ['9008', exitCodes.limitReached],
    ['9009', exitCodes.needsEmail],
    ['9011', exitCodes.unauthorized],
  ])('test variant %s exits with %i', async (variant, code) => {
    expect((await run(variant, '--photo', photo).ended).code).toBe(code)
  })

  it('--email answers the question for one', async () => {
    expect((await run('9009', '--photo', photo, '--email', 'ada@example.com').ended).code).toBe(exitCodes.final)
  })

  it.each([
    ['no photo', []],
    ['a photo that is not there', ['--photo', 'nowhere.png']],
    ['a photo that is no picture', ['--photo', here('./terminal.test.ts')]],
    ['an --out that cannot be written', ['--photo', photo, '--out', join(tmpdir(), 'no', 'where', 'x.jpeg')]],
    ['an unknown option', ['--photo', photo, '--nonsense']],
    ['a bad funnel', ['--photo', photo, '--funnel', '0']],
  ])('%s exits with 2 and says what to do', async (_, args) => {
    const { code, err } = await run('2001', ...args).ended
    expect(code).toBe(exitCodes.usage)
    expect(err.length).toBeGreaterThan(10)
    expect(err).not.toMatch(/^\s+at /m)
  })

  it('keeps no e-mail address, key or signed URL in its state', async () => {
    await run('2001', '--photo', photo, '--state', 'state', '--email', 'ada@example.com').ended
    const entries = await readdir(join(folder, 'state'), { withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map(({ name }) => join(folder, 'state', name))
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
    expect(files.length).toBeGreaterThan(2)
    for (const secret of ['ada@example.com', 'sandbox-key', 'signature=']) expect(texts.join()).not.toContain(secret)
  })
})
