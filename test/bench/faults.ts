import { readFileSync } from 'node:fs'
import { clients, type BenchedClient } from './clients.ts'
import { startServer, type Fault, type Met } from './server.ts'

const answers = (): Met => 'answer'
const once = (met: Met) => (nth: number) => (nth === 1 ? met : 'answer')
const always = (met: Met) => () => met
/** More failures in a row than any of the others has patience for. */
const eightTimes = (met: Met) => (nth: number) => (nth <= 8 ? met : 'answer')

const faults: Fault[] = [
  { name: 'none', submission: answers, poll: answers },
  { name: 'the answer to the submission is lost', submission: once('drop'), poll: answers },
  { name: 'every answer to a submission is lost', submission: always('drop'), poll: answers },
  { name: 'the submission is accepted, but answered 500', submission: once(500), poll: answers },
  { name: 'every submission is accepted, but answered 500', submission: always(500), poll: answers },
  { name: 'every submission is accepted, but answered 503', submission: always(503), poll: answers },
  { name: 'eight polls are answered 500', submission: answers, poll: eightTimes(500) },
  { name: 'eight polls are lost', submission: answers, poll: eightTimes('drop') },
]

/** One user action: the paid jobs that it started, and how many of their results it did not get. */
async function measure({ dialect, act }: BenchedClient, fault: Fault): Promise<string> {
  const server = await startServer(dialect, fault)
  const results = await act(server.url).then(
    (url) => (url.endsWith('picture.png') ? 1 : 0),
    () => 0,
  )
  const jobs = server.jobs()
  server.close()
  return `${jobs} / ${jobs - results}`
}

const row = (cells: string[]) => `| ${cells.join(' | ')} |`
const rows = await Promise.all(
  faults.map(async (fault) => [fault.name, ...(await Promise.all(clients.map((client) => measure(client, fault))))]),
)
const names = clients.map(({ name }) => name)
const table = [row(['fault', ...names]), row(['---', ...names.map(() => '---')]).replaceAll(' ', ''), ...rows.map(row)]
console.log(table.join('\n'))

const { dependencies } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as {
  dependencies: Record<string, string>
}
const versions = Object.entries(dependencies).map(([name, version]) => `${name} ${version}`)
console.log(versions.join(', '))

const guide = readFileSync(new URL('../../docs/proof.md', import.meta.url), 'utf8')
const missing = [...table, ...versions].filter((line) => !guide.includes(line))
if (missing.length > 0) {
  console.error(`\ndocs/proof.md says something else:\n${missing.join('\n')}`)
  process.exitCode = 1
}
process.exit()
