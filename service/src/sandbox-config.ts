import { fileURLToPath } from 'node:url'
import type { Config } from './config.ts'
import { loadConfig } from './load-config.ts'

/** The store of the examples and tests: seven products over all funnel types, and one whose variants force every outcome. */
export const sandboxConfig = (): Config => loadConfig(fileURLToPath(new URL('./sandbox.json', import.meta.url)))
