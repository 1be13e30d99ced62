import { defineConfig } from 'vitest/config'
import { browserProjects } from './browser/project.ts'

const resolve = { conditions: ['fitting-room-source'] }
const source = { resolve, ssr: { resolve } }
const node = (name: string, include: string[], testTimeout = 10_000) => ({
  ...source,
  test: {
    name,
    include,
    testTimeout,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 10_000 } },
    environment: 'node' as const,
  },
})

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    projects: [
      node('unit', ['test/*.test.ts', 'test/storage/*.test.ts']),
      node('service', ['service/test/*.test.ts'], 30_000),
      node('kill-points', ['test/kill-points/*.test.ts'], 300_000),
      node('examples', ['examples/*/test/*.test.ts'], 120_000),
      node('faults', ['test/faults/*.test.ts'], 30_000),
      node('model', ['test/model/*.test.ts'], 300_000),
      node('pages', ['test/pages/*.test.ts'], 60_000),
      node('wire', ['test/wire/*.test.ts'], 120_000),
      ...(await browserProjects(source)),
    ],
  },
})
