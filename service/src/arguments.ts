import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { inMemory, usualData } from './open-data.ts'

const usage = `usage: fitting-room-service (--sandbox | --config FILE) [options]
       fitting-room-service key (refresh | disconnect) STORE --config FILE [--data DIR]
       fitting-room-service store (import STORE-FILE | remove STORE) --config FILE [--data DIR]

  --help         shows this
  --version      shows the version
  --sandbox      the store of the examples, and a product whose variants force every outcome
  --config FILE  stores, products and times, as JSON; read again on SIGUSR2
  --port N       default: 8787; 0 takes a free one
  --host HOST    the address to listen on; default: 127.0.0.1, this machine alone
  --role ROLE    of several processes on one DATABASE_URL: api answers, worker renders; default: all
  --data DIR     where try-ons and pictures are kept; default: ${usualData}; ${inMemory} keeps nothing,
                 which is what a sandbox does on a Node before 22.13
  --operation [HOST:]PORT
                 /health, /ready and /metrics for Prometheus, on an address of their own; default: none

  key refresh    gives the store of that ID a new key, its only one from now on, and prints it; also reconnects it
  key disconnect leaves it without one
  store import   adds the store of a JSON file, written as in the configuration, or replaces the one with its ID
  store remove   undoes that

Commands take effect at once in all processes of DATABASE_URL, or at a folder's next start.

With DATABASE_URL in the environment try-ons are in that PostgreSQL, and pictures in the folder.`

const commands = ['key refresh', 'key disconnect', 'store import', 'store remove'] as const

export type CommandName = (typeof commands)[number]

/** What is said of a store once, at once in all processes of its database. */
export interface Command {
  name: CommandName
  /** The store's ID, or the file that it is in. */
  of: string
  /** The configuration's file. */
  config: string
  /** The folder of the try-ons, where no `DATABASE_URL` says where they are. */
  data: string
}

const isCommand = (name: string): name is CommandName => (commands as readonly string[]).includes(name)

export type RunArguments = Exclude<ReturnType<typeof readArguments>, { command: Command } | string>

/** What is to be run, or what is only to be said. */
export function readArguments() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      version: { type: 'boolean', default: false },
      sandbox: { type: 'boolean', default: false },
      config: { type: 'string' },
      port: { type: 'string', default: '8787' },
      host: { type: 'string', default: '127.0.0.1' },
      role: { type: 'string', default: 'all' },
      data: { type: 'string' },
      operation: { type: 'string' },
    },
  })
  if (values.help) return usage
  if (values.version) return version()
  if (positionals.length > 0) {
    const { data = usualData, config } = values
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
  if (values.host.trim() === '') throw new Error('--host must be an address')
  if (!/^(?:all|api|worker)$/.test(values.role)) throw new Error('--role must be all, api or worker')
  return {
    ...values,
    command: null,
    port,
    operation: values.operation === undefined ? null : addressOf(values.operation),
  }
}

function version(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }
  return manifest.version
}

function addressOf(text: string): { host: string; port: number } {
  const [, host = '127.0.0.1', port] = /^(?:\[?([^[\]]+)\]?:)?(\d+)$/.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535) throw new Error('--operation must be PORT or HOST:PORT')
  return { host, port: Number(port) }
}
