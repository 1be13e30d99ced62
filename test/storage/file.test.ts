import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { fileStorage } from 'fitting-room/storage/file'
import { storageConformance } from './conformance.ts'

/** What happens right before the system takes a file away, or gives it another name. */
let beforeChange: (file: string) => void = () => {}
vi.mock('node:fs/promises', async (load) => {
  const system = await load<typeof import('node:fs/promises')>()
  const change: typeof system.rename = (from, to) => (beforeChange(String(from)), system.rename(from, to))
  const remove: typeof system.rm = (file, options) => (beforeChange(String(file)), system.rm(file, options))
  return { ...system, rename: change, rm: remove }
})

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-storage-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

storageConformance('a folder of files', () => fileStorage(folder))

const turnsIn = () => readdir(join(folder, '%turns'))
const sumIn = async () => Number(await fileStorage(folder).getItem('sum'))

/** A process that adds to `sum` for as long as it lives. */
function adder() {
  const program = fileURLToPath(new URL('adder.ts', import.meta.url))
  const child = spawn(process.execPath, ['--conditions=fitting-room-source', program, folder])
  let added = 0
  const waiting = new Set<{ count: number; resolve: () => void }>()
  child.stdout.on('data', (said: Buffer) => {
    added += said.length
    for (const each of waiting) if (added >= each.count) each.resolve()
  })
  let failure = ''
  child.stderr.on('data', (said: Buffer) => (failure += said.toString()))
  const closed = once(child, 'close')
  return {
    added: () => added,
    /** Once it has added so often. */
    reached: (count: number) =>
      Promise.race([
        new Promise<void>((resolve) => (added >= count ? resolve() : waiting.add({ count, resolve }))),
        closed.then(() => Promise.reject(new Error(`it has ended: ${failure}`))),
      ]),
    stop: () => child.kill('SIGSTOP'),
    goOn: () => child.kill('SIGCONT'),
    async kill() {
      child.kill('SIGKILL')
      await closed
    },
  }
}

it('loses no update of processes that are killed at any moment, and keeps nobody waiting for them', async () => {
  const steady = adder()
  const killed: number[] = []
  for (let count = 1; count <= 12; count++) {
    const other = adder()
    await other.reached(count)
    await other.kill()
    killed.push(other.added())
    await steady.reached(steady.added() + 3)
  }
  await steady.kill()
  const told = killed.reduce((all, each) => all + each, steady.added())
  const sum = await sumIn()
  // what was under way as it was killed may stand or not
  expect(sum).toBeGreaterThanOrEqual(told)
  expect(sum).toBeLessThanOrEqual(told + killed.length + 1)
})

it('waits for a process that is stopped in mid-turn, and loses neither its update nor its own', async () => {
  const other = adder()
  await other.reached(5)
  const storage = fileStorage(folder)
  let own = 0
  for (let round = 0; round < 20; round++) {
    other.stop()
    const adding = storage.update('sum', (old) => String(Number(old) + 1))
    other.goOn()
    await adding
    own += 1
  }
  await other.kill()
  const sum = await sumIn()
  expect(sum).toBeGreaterThanOrEqual(other.added() + own)
  expect(sum).toBeLessThanOrEqual(other.added() + own + 1)
})

it('takes away what killed processes have left', async () => {
  const other = adder()
  await other.reached(3)
  await other.kill()
  await fileStorage(folder).setItem('key', '{}')
  expect(await turnsIn()).toEqual([])
})

it('believes a process of another machine gone once its turn is ten seconds old, and waits for it until then', async () => {
  const turns = join(folder, '%turns')
  await mkdir(turns)
  const stranger = join(turns, 'waiting.0.elsewhere.1.1.x-1')
  await writeFile(stranger, '')
  let isDone = false
  const setting = Promise.resolve(fileStorage(folder).setItem('key', '{}')).then(() => (isDone = true))
  // it has looked, and waits
  while ((await turnsIn()).filter((name) => name.startsWith('waiting.')).length < 2) await new Promise(setImmediate)
  expect(isDone).toBe(false)
  const ago = (await stat(stranger)).mtimeMs / 1_000 - 11
  await utimes(stranger, ago, ago)
  await setting
  expect(await turnsIn()).toEqual([])
})

it('believes a stranger for as long as they say that they are there', async () => {
  const turns = join(folder, '%turns')
  await mkdir(turns)
  const stranger = join(turns, 'choosing.elsewhere.1.1.x-1')
  const age = async (seconds: number) => {
    const at = Date.now() / 1_000 - seconds
    await utimes(stranger, at, at)
  }
  await writeFile(stranger, '')
  await age(9)
  let isDone = false
  const setting = Promise.resolve(fileStorage(folder).setItem('key', '{}')).then(() => (isDone = true))
  while (!(await turnsIn()).some((name) => name.startsWith('waiting.'))) await new Promise(setImmediate)
  await age(0)
  expect(isDone).toBe(false)
  await rm(stranger)
  await setting
})

it('writes nothing once its turn was taken away, and has another one', async () => {
  const storage = fileStorage(folder)
  await storage.setItem('key', 'before')
  const seen: (string | null)[] = []
  await storage.update('key', (old) => {
    seen.push(old)
    // what others do who have believed it gone
    if (seen.length === 1) {
      for (const name of readdirSync(join(folder, '%turns'))) rmSync(join(folder, '%turns', name))
      writeFileSync(join(folder, 'key'), 'theirs')
    }
    return `${old}, and own`
  })
  expect(seen).toEqual(['before', 'theirs'])
  expect(await storage.getItem('key')).toBe('theirs, and own')
})

it('removes nothing once its turn was taken away, however late that is', async () => {
  const storage = fileStorage(folder)
  await storage.setItem('key', 'before')
  beforeChange = (file) => {
    if (file !== join(folder, 'key')) return
    beforeChange = () => {}
    for (const name of readdirSync(join(folder, '%turns'))) rmSync(join(folder, '%turns', name), { recursive: true })
    writeFileSync(file, 'theirs')
  }
  await storage.update('key', (old) => (old === 'before' ? null : old))
  expect(await storage.getItem('key')).toBe('theirs')
  expect(await turnsIn()).toEqual([])
})

it('is nobody’s turn that a thread has left which was ended in the middle of it', async () => {
  const program = fileURLToPath(new URL('adder.ts', import.meta.url))
  const worker = new Worker(program, { argv: [folder], stdout: true, execArgv: ['--conditions=fitting-room-source'] })
  await new Promise((resolve) => worker.stdout.once('data', resolve))
  await worker.terminate()
  for (const name of await turnsIn()) {
    const ago = Date.now() / 1_000 - 11
    await utimes(join(folder, '%turns', name), ago, ago)
  }
  await fileStorage(folder).setItem('key', '{}')
  expect(await turnsIn()).toEqual([])
})

it('has keys of every kind', async () => {
  const storage = fileStorage(folder)
  const keys = ['', '.', '..', '\ud800', '\ud801', '%', '%turns', '🧥']
  for (const key of keys) await storage.setItem(key, JSON.stringify(key))
  expect(await Promise.all(keys.map(storage.getItem))).toEqual(keys.map((key) => JSON.stringify(key)))
})

it('keeps keys of any length, and nothing that others of the machine could read', async () => {
  const storage = fileStorage(folder)
  const keys = ['a', 'b'].map((end) => `fitting-room:${'long'.repeat(100)}${end}`)
  for (const key of keys) await storage.setItem(key, key)
  expect(await Promise.all(keys.map(storage.getItem))).toEqual(keys)
  await storage.photos?.set(keys[0] ?? '', { bytes: new ArrayBuffer(3), type: 'image/png', metadataKept: false })
  expect(await storage.photos?.get(keys[0] ?? '')).toMatchObject({ metadataKept: false })
  const modes = await Promise.all(
    (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).mode & 0o077),
  )
  expect(new Set(modes)).toEqual(new Set([0]))
})

it('rejects with what the file system says', async () => {
  await writeFile(join(folder, 'file'), '')
  const storage = fileStorage(join(folder, 'file'))
  await expect(storage.setItem('key', '{}')).rejects.toThrow(/ENOTDIR|EEXIST/)
  await expect(storage.getItem('key')).rejects.toThrow('ENOTDIR')
})

it('has no photos in a folder that is not made yet, and does not say so of one that cannot be read', async () => {
  expect(await fileStorage(join(folder, 'later')).photos?.keys?.()).toEqual([])
  await writeFile(join(folder, 'file'), '')
  await expect(fileStorage(join(folder, 'file')).photos?.keys?.()).rejects.toMatchObject({ code: 'ENOTDIR' })
})
