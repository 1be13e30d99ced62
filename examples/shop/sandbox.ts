import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sandboxConfig, serve, type RunningServer } from '@fitting-room/service'

const usualPort = 8787
/** Where a running sandbox says how to reach it. */
const noticeFile = join(tmpdir(), 'fitting-room-sandbox', 'sandbox.json')

export interface Sandbox {
  baseUrl: string
  apiKey: string
}

/** The key of the sandbox's one store. */
export const sandboxKey = sandboxConfig().stores[0]?.apiKey ?? ''

/** Starts the sandbox on its usual port, or on a free one where that is taken. */
export async function startSandbox(): Promise<Sandbox & { server: RunningServer }> {
  const config = sandboxConfig()
  const server = await serve({ config }, usualPort).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE') throw error
    return serve({ config }, 0)
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
