#!/usr/bin/env node
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ConfigError } from './config.ts'
import { fileBlobs } from './file-blobs.ts'
import { loadConfig } from './load-config.ts'
import { memoryBlobs } from './memory.ts'
import { sandboxConfig } from './sandbox-config.ts'
import { serve } from './server.ts'

const usage = 'usage: fitting-room-service (--sandbox | --config FILE) [--port N] [--data DIR]'

/** npm changes the folder; relative paths are the caller's. */
const fromCaller = (path: string) => resolve(process.env['INIT_CWD'] ?? process.cwd(), path)

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      /** The store of the examples, and a product whose variants force every outcome. */
      sandbox: { type: 'boolean', default: false },
      config: { type: 'string' },
      port: { type: 'string', default: '8787' },
      /** Where pictures are kept; without it they are in memory. */
      data: { type: 'string' },
    },
  })
  const port = Number(values.port)
  if (values.sandbox === (values.config !== undefined)) throw new Error('either --sandbox or --config is needed')
  if (!/^\d+$/.test(values.port) || port > 65_535) throw new Error('--port must be a number from 0 to 65535')
  return { ...values, port }
}

async function main(): Promise<void> {
  const { config: file, data, port } = readArguments()
  const config = file === undefined ? sandboxConfig() : loadConfig(fromCaller(file))
  const blobs = data === undefined ? memoryBlobs() : fileBlobs(join(fromCaller(data), 'pictures'))
  const server = await serve({ config, blobs }, port)
  console.log(`listening on ${server.url}`)
  const stop = () => void server.close().then(() => process.exit(0))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
}

main().catch((error: NodeJS.ErrnoException) => {
  if (error instanceof ConfigError) fail(error.message)
  if (error.code === 'EADDRINUSE') fail('this port is taken; give another with --port')
  fail(`${error.message}\n${usage}`)
})
