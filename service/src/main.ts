#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { carryOut, isCommand } from './command.ts'
import { ConfigError, type Config } from './config.ts'
import { openDrawing } from './drawing/drawing-pool.ts'
import { loadConfig } from './load-config.ts'
import { memoryStore } from './memory.ts'
import { createLog } from './operation/log.ts'
import { createMetrics } from './operation/metrics.ts'
import { serveOperation } from './operation/serve-operation.ts'
import { fromCaller, inMemory, openData, usualData } from './open-data.ts'
import { placesFor, type Observer } from './ports.ts'
import { sandboxConfig } from './sandbox-config.ts'
import { serve } from './server.ts'
import { checkKeys, createService } from './service.ts'
import { untilStopped } from './until-stopped.ts'

const usage = `usage: fitting-room-service (--sandbox | --config FILE) [options]
       fitting-room-service key (refresh | disconnect) STORE --config FILE [--data DIR]
       fitting-room-service store (import STORE-FILE | remove STORE) --config FILE [--data DIR]

  --sandbox      the store of the examples, and a product whose variants force every outcome
  --config FILE  stores, products and times, as JSON; read again at SIGUSR2
  --port N       default: 8787; 0 takes a free one
  --host HOST    the address to listen on; default: 127.0.0.1, this machine alone
  --role ROLE    of several processes on one DATABASE_URL: api answers, worker renders; default: all
  --data DIR     where try-ons and pictures are kept; default: ${usualData}; ${inMemory} keeps nothing
  --operation [HOST:]PORT
                 /health, /ready and /metrics for Prometheus, on an address of their own; default: none

  key refresh    gives the store of that ID a new key, its only one from now on, and prints it; also reconnects it
  key disconnect leaves it without one
  store import   puts the store of a JSON file, as it would stand in the configuration, in the place of what has its ID
  store remove   takes that back

Commands hold at once in all processes of DATABASE_URL, or for a folder's next start.

With DATABASE_URL in the environment try-ons are in that PostgreSQL, and pictures in the folder.`

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}

function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      sandbox: { type: 'boolean', default: false },
      config: { type: 'string' },
      port: { type: 'string', default: '8787' },
      host: { type: 'string', default: '127.0.0.1' },
      role: { type: 'string', default: 'all' },
      data: { type: 'string', default: usualData },
      operation: { type: 'string' },
    },
  })
  if (positionals.length > 0) {
    const { data, config } = values
    const [subject, verb, of, ...more] = positionals
    const name = `${subject} ${verb}`
    if (isCommand(name) && of && config && more.length === 0) return { command: { name, of, data, config } }
    throw new Error(
      'a command is key refresh, key disconnect, store import or store remove, of one store, with --config FILE',
    )
  }
  const port = Number(values.port)
  if (values.sandbox === (values.config !== undefined)) throw new Error('either --sandbox or --config is needed')
  if (!/^\d+$/.test(values.port) || port > 65_535) throw new Error('--port must be a number from 0 to 65535')
  if (!/^(?:all|api|worker)$/.test(values.role)) throw new Error('--role must be all, api or worker')
  return {
    ...values,
    command: null,
    port,
    operation: values.operation === undefined ? null : addressOf(values.operation),
  }
}

function addressOf(text: string): { host: string; port: number } {
  const [, host = '127.0.0.1', port] = /^(?:(.+):)?(\d+)$/.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535) throw new Error('--operation must be PORT or HOST:PORT')
  return { host, port: Number(port) }
}

async function main(): Promise<void> {
  const given = readArguments()
  if (given.command === null) return run(given)
  console.log(await carryOut(given.command, process.env['DATABASE_URL']).catch((error: Error) => fail(error.message)))
}

/** How long the end may take, in ms: a database that stands still would hold it for ever. */
const longestEndMs = 240_000

type RunArguments = Extract<ReturnType<typeof readArguments>, { command: null }>

async function run({ config: file, data, port, host, role, operation: place }: RunArguments): Promise<void> {
  const config = file === undefined ? sandboxConfig() : loadConfig(fromCaller(file))
  const providerKey = process.env['FASHN_API_KEY']
  const bucketKeys = {
    id: process.env['AWS_ACCESS_KEY_ID'],
    secret: process.env['AWS_SECRET_ACCESS_KEY'],
    session: process.env['AWS_SESSION_TOKEN'],
  }
  const keys = { providerKey, bucketKeys }
  checkKeys({ config, ...keys })
  // those of before the configuration was read again, too: what is told of may be older
  const secrets = new Set([providerKey, ...Object.values(bucketKeys)].filter((key) => key !== undefined))
  const log = createLog(() => {
    for (const { apiKey } of config.stores) secrets.add(apiKey)
    return [...secrets]
  })
  const { report } = log
  // whoever reads what it says may go, or have no room for it, and the service goes on
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
  // Windows has no such signal; a process that does not hear it would end
  if (process.platform !== 'win32') process.on('SIGUSR2', () => file !== undefined && reload(config, file, report))
  const places = placesFor(config)
  const kept = await openData(data, report, process.env['DATABASE_URL'], places).catch((error: Error) =>
    fail(error.message),
  )
  const { store = memoryStore(places), ...others } = kept
  // its processes want the processors for themselves as they begin
  const drawing = openDrawing({ beginsAtOnce: true, report })
  const metrics = createMetrics()
  const observer: Observer = {
    answered: metrics.answered,
    ended(job, seconds) {
      metrics.ended(job, seconds)
      log.ended(job)
    },
  }
  const options = { config, store, ...others, drawing, report, observer, ...keys, works: role !== 'api' }
  const orClosed = async (error: unknown) => {
    await store.close()
    throw error
  }
  const operation = place && (await serveOperation({ store, metrics }, place).catch(orClosed))
  const running =
    role === 'worker'
      ? createService({ ...options, publicUrl: config.publicUrl ?? '' })
      : await serve(options, port, host).catch(orClosed)
  console.log('url' in running ? `listening on ${running.url}` : 'working')
  await untilStopped()
  setTimeout(() => process.exit(1), longestEndMs).unref()
  operation?.stop()
  await running.close({ gently: true })
  process.exit(0)
}

/** Reads the file again; where it is not valid, all stays as it was. */
function reload(config: Config, file: string, report: (error: unknown) => void): void {
  try {
    Object.assign(config, loadConfig(fromCaller(file)))
  } catch (error) {
    report(error)
  }
}

main().catch((error: NodeJS.ErrnoException) => {
  if (error instanceof ConfigError) fail(error.message)
  if (error.code === 'EADDRINUSE') fail('this port is taken; give another with --port')
  fail(`${error.message}\n${usage}`)
})
