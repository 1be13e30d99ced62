import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ConfigError, loadConfig } from './config.ts'
import { fileBlobs } from './file-blobs.ts'
import { serve } from './server.ts'

const usage = 'usage: npm run service -- --config FILE --port N --data DIR'

/** npm changes the folder; relative paths are the caller's. */
const fromCaller = (path: string) => resolve(process.env['INIT_CWD'] ?? process.cwd(), path)

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}

function readArguments() {
  const { values } = parseArgs({
    options: { config: { type: 'string' }, port: { type: 'string' }, data: { type: 'string' } },
  })
  const port = Number(values.port)
  if (!values.config || !values.data) throw new Error('--config and --data are needed')
  if (!/^\d+$/.test(values.port ?? '') || port > 65_535) throw new Error('--port must be a number from 0 to 65535')
  return { config: fromCaller(values.config), data: fromCaller(values.data), port }
}

async function main(): Promise<void> {
  const { config: file, data, port } = readArguments()
  const config = loadConfig(file)
  const server = await serve({ config, blobs: fileBlobs(join(data, 'pictures')) }, port)
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
