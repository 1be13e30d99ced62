import { parentPort } from 'node:worker_threads'
import { argv, kill, memoryUsage, pid, ppid } from 'node:process'

/** How often it looks, in ms: a decoder that runs away takes some hundred megabytes a second. */
const lookMs = 25
const mostMemory = Number(argv[2])
const parent = ppid

/** Ends its process, which may be busy for ever with a picture, where it takes too much or nobody waits for it any more. */
function look(): void {
  if (memoryUsage.rss() > mostMemory || process.ppid !== parent) kill(pid, 'SIGKILL')
}

look()
setInterval(look, lookMs)
parentPort?.postMessage('it looks')
