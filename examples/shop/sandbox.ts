import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inMemory, openData, sandboxConfig, serve, type RunningServer } from '@fitting-room/service'

const usualPort = 8787
/** Where a running sandbox says how to reach it. */
const noticeFile = join(tmpdir(), 'fitting-room-sandbox', 'sandbox.json')

export interface Sandbox {
  baseUrl: string
  apiKey: string
}

/** The key of the sandbox's one store. */
export const sandboxKey = sandboxConfig().stores[0]?.apiKey ?? ''

/** Starts the sandbox on its usual port, or on a free one where that is taken; `data` is where it keeps its try-ons. */
export async function startSandbox(data = inMemory): Promise<Sandbox & { server: RunningServer }> {
  const kept = await openData(data, (error) => console.error(error))
  const options = { config: sandboxConfig(), ...kept }
  const server = await serve(options, usualPort).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    return serve(options, 0)
  })
  return { server, baseUrl: server.url, apiKey: sandboxKey }
}

/** Says where this sandbox is until the returned function is called. */
export function announce({ baseUrl, apiKey }: Sandbox): () => void {
  mkdirSync(join(noticeFile, '..'), { recursive: true })
  writeFileSync(noticeFile, JSON.stringify({ baseUrl, apiKey }))
  return () => rmSync(noticeFile, { force: true })
}

/** The sandbox that another process runs, if it answers. */
export async function findSandbox(): Promise<Sandbox | null> {
  try {
    const sandbox = JSON.parse(readFileSync(noticeFile, 'utf8')) as Sandbox
    const answer = await fetch(`${sandbox.baseUrl}/context`, { headers: { 'X-Service-SDK-Key': sandbox.apiKey } })
    return answer.ok ? sandbox : null
  } catch {
    return null
  }
}
