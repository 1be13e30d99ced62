import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

declare module 'vitest' {
  export interface ProvidedContext {
    baseUrl: string
  }
}

/** The real service in a process of its own, for the tests that run in a browser. */
export default async function setup(project: TestProject): Promise<() => void> {
  const script = fileURLToPath(new URL('./serve.ts', import.meta.url))
  const child = spawn(process.execPath, ['--conditions=fitting-room-source', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()))
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)))
  })
  project.provide('baseUrl', url)
  return () => void child.kill()
}
