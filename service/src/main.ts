#!/usr/bin/env node
import { readArguments, type RunArguments } from './arguments.ts'
import { ConfigError } from './config.ts'
import { connectPatiently } from './connecting.ts'
import { canLock } from './embedded/folder-lock.ts'
import { checkKeys } from './keys.ts'
import { loadConfig } from './load-config.ts'
import { fromCaller, inMemory, openData, usualData } from './open-data.ts'
import { createLog } from './operation/log.ts'
import { placesFor } from './ports.ts'
import { sandboxConfig } from './sandbox-config.ts'
import { expectShortLived } from './short-lived.ts'

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}

async function main(): Promise<void> {
  connectPatiently()
  const given = readArguments()
  if (typeof given === 'string') return console.log(given)
  if (given.command === null) return start(given)
  const { carryOut } = await import('./command.ts')
  console.log(await carryOut(given.command, process.env['DATABASE_URL']).catch((error: Error) => fail(error.message)))
}

/** A sandbox is for trying, also where a newer Node would be needed to keep what was tried. */
function dataFor({ data, sandbox }: RunArguments): string {
  if (data !== undefined) return data
  if (!sandbox || process.env['DATABASE_URL'] || canLock()) return usualData
  console.error(`Node ${process.version} keeps nothing of the sandbox: 22.13 or newer keeps it in ${usualData}`)
  return inMemory
}

/** A folder's database begins in its thread as soon as the configuration is known to be right, and all else is loaded meanwhile. */
async function start(given: RunArguments): Promise<void> {
  expectShortLived()
  if (given.role !== 'all' && !process.env['DATABASE_URL'])
    fail(`--role ${given.role} needs DATABASE_URL, in which the processes of both roles keep their try-ons`)
  const config = given.config === undefined ? sandboxConfig() : loadConfig(fromCaller(given.config))
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
  if (process.platform !== 'win32') process.on('SIGUSR2', reload)

  /** Reads the file again; where it is not valid, all stays as it was. */
  function reload(): void {
    if (given.config === undefined) return
    try {
      Object.assign(config, loadConfig(fromCaller(given.config)))
    } catch (error) {
      report(error)
    }
  }

  const [kept, { run }] = await Promise.all([
    openData(dataFor(given), report, process.env['DATABASE_URL'], placesFor(config)).catch((error: Error) =>
      fail(error.message),
    ),
    import('./run.ts'),
  ])
  await run({ config, ...kept, ...keys }, log, given)
}

main().catch((error: NodeJS.ErrnoException & { port?: number }) => {
  if (error instanceof ConfigError) fail(error.message)
  if (error.code === 'EADDRINUSE') fail(`port ${error.port} is taken; give another with --port or --operation`)
  fail(`${error.message}\n--help says how it is used`)
})
