import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { browserProjects } from './browser/project.ts'
import { limits } from './limits.ts'

const resolve = { conditions: ['fitting-room-source'] }
const source = { resolve, ssr: { resolve } }
/** Programs that tests start are compiled once for all runs. */
const env = { NODE_COMPILE_CACHE: fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url)) }
const node = (name: string, include: string[]) => ({
  ...source,
  test: { name, include, ...limits, env, environment: 'node' as const },
})

export default defineConfig({
  root: new URL('..', import.meta.url).pathname,
  test: {
    // most of them wait: for a heartbeat, for a process, for a page
    maxWorkers: 2 * availableParallelism(),
    teardownTimeout: limits.hookTimeout,
    projects: [
      node('unit', ['test/*.test.ts', 'test/storage/*.test.ts']),
      node('service', ['service/test/*.test.ts']),
      node('kill-points', ['test/kill-points/*.test.ts', 'test/lookbook/*.test.ts']),
      node('examples', ['examples/*/test/*.test.ts', 'test/examples/*.test.ts']),
      node('faults', ['test/faults/*.test.ts']),
      node('model', ['test/model/*.test.ts']),
      node('soak', ['test/soak/**/*.test.ts']),
      node('pages', ['test/pages/*.test.ts']),
      node('wire', ['test/wire/*.test.ts']),
      ...(await browserProjects(source)),
    ],
  },
})
