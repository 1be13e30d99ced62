import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as after } from 'node:timers/promises'
import { spentSignal } from '../src/drawing/not-drawn.ts'
import type { Errand } from '../src/drawing/processes.ts'

/** What the tests of the processes have done, each errand by its name. */
const methods = {
  pid: () => process.pid,
  /** Until that file is there. */
  async until(file: string) {
    while (!existsSync(file)) await after(10)
    return process.pid
  },
  /** Ends its process where that file is not there yet. */
  dieFirst(file: string) {
    if (existsSync(file)) return 'done'
    writeFileSync(file, '')
    return process.kill(process.pid, 'SIGKILL')
  },
  die: () => process.kill(process.pid, 'SIGKILL'),
  spend: () => process.kill(process.pid, spentSignal),
  fail() {
    throw new TypeError('no picture')
  },
}

process.on('message', async ({ method, args }: Errand) => {
  try {
    process.send?.({ value: await Reflect.get(methods, method)(...args) })
  } catch (error) {
    process.send?.({ error: String(error) })
  }
})
if (!process.argv.includes('in vain')) process.send?.('ready')
else process.exit()
