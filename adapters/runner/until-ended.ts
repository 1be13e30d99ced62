import type { TryOnView } from '../../src/rules/view.ts'
import type { TryOn } from '../../src/try-on/try-on.types.ts'
import { isEnded, isOut, isWaiting } from './views.ts'

/** Another process, or a later one, has it next. */
export const left = () => new Error('the runner was closed')

interface Watch {
  signal: AbortSignal
  /** Why no key could be asked for; null where one could. */
  failure(): unknown
  onState(view: TryOnView): void
}

/** Follows a try-on until it has ended or waits, telling of each state once; rejects where it is left, or cannot go on here. */
export function untilEnded(tryOn: TryOn, { signal, failure, onState }: Watch): Promise<TryOnView> {
  return new Promise((resolve, reject) => {
    let shown: TryOnView['state'] = 'idle'
    const look = () => {
      const view = tryOn.get()
      const { state } = view
      // the key was not refused
      if (state === 'unauthorized' && failure()) return end(() => reject(failure()))
      // what another process had until now is an end only once this one has it
      const isNews = state !== shown || isEnded(view)
      if (state !== 'restoring' && state !== 'idle' && isNews) onState(view)
      shown = state
      if (isEnded(view) || isWaiting(view)) end(() => resolve(view))
      else if (state === 'idle') end(() => reject(new Error(`a try-on was left: ${view.problem?.kind ?? 'idle'}`)))
      else if (signal.aborted && !isOut(view)) end(() => reject(left()))
    }
    const { unsubscribe } = tryOn.subscribe(look)
    signal.addEventListener('abort', look)
    function end(how: () => void): void {
      unsubscribe()
      signal.removeEventListener('abort', look)
      how()
    }
    look()
  })
}
