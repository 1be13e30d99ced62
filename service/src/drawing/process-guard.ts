import { parentPort } from 'node:worker_threads'
import { argv, cpuUsage, kill, memoryUsage, pid, ppid } from 'node:process'
import { spentSignal } from './not-drawn.ts'

/** What a picture does, as its process says. */
export type Told = 'begins' | 'ends'

/** How often it looks, in ms: a decoder that runs away takes some hundred megabytes a second. */
const lookMs = 25
const [mostMemory = 0, mostCpuMs = 0] = argv.slice(2).map(Number)
const parent = ppid
/** What the process had used when it began with a picture; null while it has none. */
let begun: NodeJS.CpuUsage | null = null

function isSpent(): boolean {
  if (begun === null) return false
  const { user, system } = cpuUsage(begun)
  return memoryUsage.rss() > mostMemory || user + system > mostCpuMs * 1_000
}

/** Ends its process, which may be busy for ever with a picture, where it takes too much or nobody waits for it any more. */
function look(): void {
  if (process.ppid !== parent) kill(pid, 'SIGKILL')
  if (isSpent()) kill(pid, spentSignal)
}

look()
setInterval(look, lookMs)
parentPort?.on('message', (told: Told) => {
  if (told === 'begins') begun = cpuUsage()
  look()
  if (told === 'ends') begun = null
  parentPort?.postMessage('looked')
})
parentPort?.postMessage('looked')
