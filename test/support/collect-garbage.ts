import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What nothing holds any more is gone after it; what only something weakly held led to takes another turn. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc')
  for (let turn = 0; turn < 3; turn++) {
    // what was looked at is held until its task is over
    await new Promise((resolve) => setImmediate(resolve))
    runInNewContext('gc()')
  }
}
