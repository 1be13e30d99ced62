import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { seldom } from '../../test/limits.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

describe('the end of a process', () => {
  // whoever asks all the time holds it up
  const isClosed = (url: string) => expect.poll(() => fetch(url).catch(() => 'is closed'), seldom).toBe('is closed')

  async function command(...args: string[]) {
    const folder = await mkdtemp(join(tmpdir(), 'service-'))
    onTestFinished(() => rm(folder, { recursive: true, maxRetries: 20, retryDelay: 500 }))
    const child = spawn(
      process.execPath,
      ['--conditions=fitting-room-source', main, '--sandbox', '--port', '0', '--data', folder, ...args],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    return { child, url: /http:\S+/.exec(line.toString())?.[0] ?? '', ended: once(child, 'close') }
  }

  it.each(['SIGTERM', 'SIGHUP'] as const)('at %s answers what is under way, and takes nothing new', async (signal) => {
    const { child, url, ended } = await command()
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const body = '{"contentType":"image/png"}'
    const head = `POST /uploads HTTP/1.1\r\nHost: a\r\nX-Service-SDK-Key: sandbox-key\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    socket.write(head + body.slice(0, 5))
    // the request is there before the signal is
    await fetch(`${url}/context`)
    child.kill(signal)
    // as an npm hands on what it is sent, after the child was sent it, too
    for (const again of ['SIGTERM', 'SIGINT', signal] as const) child.kill(again)
    await isClosed(url)
    for (const again of ['SIGTERM', 'SIGINT', signal] as const) child.kill(again)
    socket.write(body.slice(5))
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    expect(chunk.toString()).toMatch(/^HTTP\/1\.1 200/)
    socket.end()
    expect((await ended)[0]).toBe(0)
  })

  it('comes with that of the npm that started it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'service-'))
    onTestFinished(() => rm(folder, { recursive: true, maxRetries: 20, retryDelay: 500 }))
    const root = fileURLToPath(new URL('../..', import.meta.url))
    const npm = spawn('npm', ['run', '-s', 'service', '--', '--sandbox', '--port', '0', '--data', folder], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [line] = (await once(npm.stdout, 'data')) as [Buffer]
    const url = /http:\S+/.exec(line.toString())?.[0] ?? ''
    npm.kill('SIGTERM')
    await isClosed(url)
  })

  it('comes where its database ends by itself, with words for whoever begins it anew', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'service-'))
    onTestFinished(() => rm(folder, { recursive: true, maxRetries: 20, retryDelay: 500 }))
    const gone = join(folder, 'gone')
    const ends = `import { existsSync } from 'node:fs'
      import { workerData } from 'node:worker_threads'
      if (workerData?.socket) setInterval(() => existsSync('${gone}') && process.exit(), 50)`
    const preload = `--import=data:text/javascript,${encodeURIComponent(ends)}`
    const child = spawn(
      process.execPath,
      ['--conditions=fitting-room-source', preload, main, '--sandbox', '--port', '0', '--data', join(folder, 'data')],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    )
    onTestFinished(() => void child.kill('SIGKILL'))
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    await once(child.stdout, 'data')
    await writeFile(gone, '')
    expect((await once(child, 'close'))[0]).toBe(1)
    expect(said).toContain('has ended by itself')
  })

  describe('where its database', () => {
    async function panicking(how: string) {
      const folder = await mkdtemp(join(tmpdir(), 'service-'))
      onTestFinished(() => rm(folder, { recursive: true, maxRetries: 20, retryDelay: 500 }))
      const program = fileURLToPath(new URL('panicking-process.ts', import.meta.url))
      const child = spawn(process.execPath, ['--conditions=fitting-room-source', program, folder, how])
      onTestFinished(() => void child.kill('SIGKILL'))
      let said = ''
      child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
      return { child, said: () => said }
    }

    it.each([
      ['has no room for its log, as where a disk is full', 'log', 'could not create file "pg_wal/xlogtemp.42"'],
      ['knows its files no more, as where none could be opened', 'file', 'could not create file "1": File exists'],
    ])('%s, comes with its words', async (_, how, words) => {
      const { child, said } = await panicking(how)
      expect((await once(child, 'close'))[0]).toBe(1)
      expect(said()).toContain(`has ended by itself: ${words}`)
    })

    it('has rows that read like that, does not come', async () => {
      const { said } = await panicking('row')
      await expect.poll(said, seldom).toContain("v: 'VPANIC'")
    })
  })

  it('that finds its folder taken says so', async () => {
    const { child, ended } = await command()
    const folder = child.spawnargs.at(-1)!
    const second = spawn(process.execPath, [
      '--conditions=fitting-room-source',
      main,
      '--sandbox',
      '--port',
      '0',
      '--data',
      folder,
    ])
    let said = ''
    second.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const [code] = (await once(second, 'close')) as [number]
    expect([code, said]).toEqual([2, expect.stringContaining('is in use by another service')])
    child.kill('SIGTERM')
    await ended
  })
})
