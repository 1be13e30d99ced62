import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { DrawingEnded, EndsProcesses, LineFull, TookTooMuch } from '../src/drawing/not-drawn.ts'
import { openProcesses, type Processes, type ProcessesOptions } from '../src/drawing/processes.ts'
import type { Line } from '../src/ports.ts'

let folder: string
let processes: Processes
let count = 0
const job: Line = { kind: 'job', of: '' }
const upload = (of: string): Line => ({ kind: 'upload', of })

beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'processes-'))))
afterEach(async () => {
  await processes.close()
  await rm(folder, { recursive: true })
})

function begin(options: Partial<ProcessesOptions> = {}): void {
  const file = fileURLToPath(new URL('./errand-process.ts', import.meta.url))
  processes = openProcesses({ file, args: [], atOnce: 2, beginsAtOnce: false, longestMs: 300_000, ...options })
}
const ask = (method: string, line = job, ...args: unknown[]) => processes.ask({ method, args }, line)
const newFile = () => join(folder, String(++count))
/** An errand that ends when it is released. */
function held(line = job) {
  const file = newFile()
  return { done: ask('until', line, file), release: () => writeFileSync(file, '') }
}
/** The state of a process, by what the system says; null where there is none. */
const stateOf = (pid: number) =>
  existsSync(`/proc/${pid}/stat`) ? (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0] ?? null) : null
const hasEnded = (pid: number) => expect.poll(() => [null, 'Z'].includes(stateOf(pid))).toBe(true)

describe('processes that draw', () => {
  it('are replaced where they end with nothing to do', async () => {
    begin({ beginsAtOnce: true })
    const pid = (await ask('pid')) as number
    process.kill(pid, 'SIGKILL')
    await hasEnded(pid)
    expect(await Promise.all([ask('pid'), ask('pid')])).not.toContain(pid)
  })

  it('that cannot be begun, as there is no memory for them, end nothing but what waits for them', async () => {
    // the system has no room for that either, and says so at once
    begin({ args: ['x'.repeat(1_000_000)] })
    await expect(ask('pid')).rejects.toThrow(DrawingEnded)
  })

  it('do again what one of them was at that was ended from outside', async () => {
    begin()
    expect(await ask('dieFirst', job, newFile())).toBe('done')
  })

  it('give up what ends them, and go on with what waits', async () => {
    begin()
    const ended = [
      expect(ask('spend')).rejects.toThrow(TookTooMuch),
      expect(ask('spend')).rejects.toThrow(TookTooMuch),
      expect(ask('die')).rejects.toThrow(EndsProcesses),
    ]
    const others = Array.from({ length: 6 }, () => ask('pid'))
    await Promise.all([...ended, ...others])
  })

  it('give up what takes too long by the clock', async () => {
    begin({ longestMs: 2_000 })
    await expect(ask('until', job, newFile())).rejects.toThrow(TookTooMuch)
    expect(await ask('pid')).toEqual(expect.any(Number))
  })

  it('say what failed', async () => {
    begin()
    await expect(ask('fail')).rejects.toThrow('no picture')
  })

  it('leave one of them to jobs, however many uploads there are', async () => {
    begin()
    const uploads = [held(upload('a')), held(upload('b')), held(upload('c'))]
    expect(await ask('pid')).toEqual(expect.any(Number))
    uploads.forEach(({ release }) => release())
    await Promise.all(uploads.map(({ done }) => done))
  })

  it('take turns between jobs and uploads, and between those who upload', async () => {
    begin({ atOnce: 1 })
    const first = held()
    const done: string[] = []
    const named = (name: string, line: Line) => ask('pid', line).then(() => done.push(name))
    const all = [
      named('a1', upload('a')),
      named('a2', upload('a')),
      named('a3', upload('a')),
      named('b1', upload('b')),
      named('job 1', job),
      named('job 2', job),
    ]
    first.release()
    await Promise.all([first.done, ...all])
    expect(done).toEqual(['a1', 'job 1', 'b1', 'job 2', 'a2', 'a3'])
  })

  it('let so many of one client wait, and those of others all the same', async () => {
    begin({ atOnce: 1 })
    const first = held(upload('a'))
    const waiting = Array.from({ length: 25 }, () => ask('pid', upload('a')).catch((error: unknown) => error))
    const other = ask('pid', upload('b'))
    first.release()
    expect(await other).toEqual(expect.any(Number))
    const full = (await Promise.all(waiting)).filter((each) => each instanceof LineFull)
    // the first one waits, too, as its process has not begun
    expect(full.length).toBe(6)
  })

  it('leave to others what they are at as they end', async () => {
    begin()
    const [one, other] = [held(), held()]
    const waiting = ask('pid')
    const left = [one.done, other.done, waiting].map((each) => expect(each).rejects.toThrow(DrawingEnded))
    await processes.close()
    await Promise.all(left)
    await expect(ask('pid')).rejects.toThrow(DrawingEnded)
  })

  it('let nobody wait for ever where none can begin', async () => {
    begin({ args: ['in vain'] })
    await expect(ask('pid')).rejects.toThrow(DrawingEnded)
  })
})

describe('the service’s drawing processes', () => {
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  const childrenOf = (pid: number) =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)

  /** Whether it has said what is to become of that signal; most processes end with it. */
  const hearsHangUp = (pid: number) =>
    (parseInt(/SigCgt:\s*(\w+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]?.slice(-1) ?? '', 16) & 1) === 1

  async function started() {
    const args = ['--conditions=fitting-room-source', main, '--sandbox', '--port', '0', '--data', join(folder, 'data')]
    const service = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void service.kill('SIGKILL'))
    const [said] = (await once(service.stdout, 'data')) as [Buffer]
    const pid = service.pid ?? 0
    await expect.poll(() => childrenOf(pid).filter(hearsHangUp).length).toBe(2)
    return { service, drawing: childrenOf(pid), url: /http:\S+/.exec(said.toString())?.[0] ?? '' }
  }

  it('hear no signal that is meant to end the service in order, and end with it', async () => {
    begin()
    const { service, drawing, url } = await started()
    for (const pid of drawing) for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.kill(pid, signal)
    await fetch(`${url}/context`)
    expect(childrenOf(service.pid ?? 0)).toEqual(drawing)
    expect(drawing.map(stateOf)).not.toContain('Z')
    const exit = once(service, 'exit')
    service.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
    for (const pid of drawing) await hasEnded(pid)
  })

  it('end with a service that is killed', async () => {
    begin()
    const { service, drawing } = await started()
    service.kill('SIGKILL')
    for (const pid of drawing) await hasEnded(pid)
  })
})
