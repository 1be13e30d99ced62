import { accessSync, constants, readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const usage = `usage: npm run try-on -- --photo FILE [--variant ID] [--out FILE] [--state DIR]
                          [--product ID] [--funnel ID[,ID…]] [--email ADDRESS] [--again] [--base-url URL]

  --photo FILE     the shopper's photo; not needed to resume what --state holds
  --variant ID     a variant of the sandbox, or with --product and --funnel of any installation (default 2001)
  --out FILE       where the picture goes (default try-on.jpeg)
  --state DIR      a folder that outlives the process: run again with it, the same job is resumed
  --again          a new attempt, which may be paid for, where the last one in --state has ended
  --base-url URL   any installation of the API; its key is read from FITTING_ROOM_API_KEY
`

export class UsageError extends Error {}
export class HelpWanted extends Error {}

export interface Options {
  photo: string | null
  variant: string
  product: string | null
  funnels: number[]
  out: string
  state: string | null
  email: string | null
  again: boolean
  baseUrl: string | null
}

/** npm changes the folder; relative paths are the caller's. */
const fromCaller = (path: string) => resolve(process.env['INIT_CWD'] ?? process.cwd(), path)

export function readOptions(args: string[]): Options {
  const text = { type: 'string' } as const
  const { values } = parsed(() =>
    parseArgs({
      args,
      options: {
        photo: text,
        variant: text,
        product: text,
        funnel: text,
        out: text,
        state: text,
        email: text,
        again: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        'base-url': text,
      },
    }),
  )
  if (values.help) throw new HelpWanted(usage)
  const funnels = (values.funnel ?? '').split(',').filter(Boolean).map(Number)
  if (!funnels.every((id) => Number.isSafeInteger(id) && id > 0))
    throw new UsageError('--funnel must be positive integers')
  if (values['base-url'] && !(values.product && funnels.length > 0)) {
    throw new UsageError('--base-url needs --product and --funnel: only the sandbox’s are known')
  }
  if (!values.photo && !values.state) throw new UsageError('--photo is needed')
  return {
    photo: values.photo ? fromCaller(values.photo) : null,
    variant: values.variant ?? '2001',
    product: values.product ?? null,
    funnels,
    out: writable(fromCaller(values.out ?? 'try-on.jpeg')),
    state: values.state ? fromCaller(values.state) : null,
    email: values.email ?? null,
    again: values.again ?? false,
    baseUrl: values['base-url'] ?? null,
  }
}

/** Where the picture goes is checked before it is paid for. */
function writable(path: string): string {
  try {
    accessSync(dirname(path), constants.W_OK)
    return path
  } catch {
    throw new UsageError(`--out: nothing can be written to ${dirname(path)}`)
  }
}

function parsed<T>(parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** The photo's bytes; the message of a failure names the file. */
export function readPhotoFile(path: string): Blob {
  try {
    return new Blob([readFileSync(path)])
  } catch {
    throw new UsageError(`${path} cannot be read`)
  }
}
