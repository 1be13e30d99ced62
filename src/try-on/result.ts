import type { Readable } from '../ports.ts'
import type { Problem } from '../rules/problem.ts'
import { TryOnError } from '../rules/try-on-error.ts'
import type { AttemptView, TryOnResult, TryOnView } from '../rules/view.ts'
import type { TryOnState } from '../rules/words.ts'

export interface ResultOptions {
  /** Ends the wait, never the try-on. */
  signal?: AbortSignal | undefined
  /** Also rejects where a person is needed: at `needsEmail` and `unauthorized`. Default: false. */
  rejectOnInput?: boolean | undefined
}

const stops: readonly TryOnState[] = [
  'stalled',
  'failed',
  'outcomeUnknown',
  'limitReached',
  'rejected',
  'protocolError',
]
const inputs: readonly TryOnState[] = ['needsEmail', 'unauthorized']

/** The only stop that is no problem to a shopper. */
const emailWanted: Problem = {
  kind: 'emailRequired',
  operation: 'createGeneration',
  situation: 'emailRequired',
  status: null,
  error: null,
}

/** Why nothing has come of a consent. */
export interface Refused {
  error: TryOnError
  /** Whose it was: a former shopper's, or one's before the room was closed, is of no use. */
  whose: readonly { readonly aborted: boolean }[]
  /** What there was. */
  stood: TryOnView
}

/** Why nothing has come of the last consent, where nothing went on then and nothing else has come since. */
export function standing(refused: Refused | null, now: TryOnView): TryOnError | null {
  if (refused === null || refused.whose.some(({ aborted }) => aborted)) return null
  const { state, attempt } = refused.stood
  const isAsThen = now.state === state && now.attempt?.id === attempt?.id
  return isAsThen && (state === 'idle' || state === 'final') ? refused.error : null
}

/** The end of a try-on as a promise, for headless use. */
export function resultOf(
  tryOn: Pick<Readable<TryOnView>, 'get' | 'subscribe'>,
  /** Aborts when the room is closed. */
  life: AbortSignal,
  /** Whose result it is. */
  shopper: AbortSignal,
  /** What was said before has been carried out; gives why nothing has come of the last consent, if so. */
  heard: Promise<TryOnError | null>,
  { signal, rejectOnInput = false }: ResultOptions = {},
): Promise<TryOnResult> {
  return new Promise((resolve, reject) => {
    let begun = false
    /** The attempt that is waited for, once there is one. */
    let mine: AttemptView | null = null
    let isHeard = false
    let isOver = false
    const end = (finish = () => {}) => {
      isOver = true
      subscription.unsubscribe()
      // each of them may live for much longer
      signal?.removeEventListener('abort', abort)
      life.removeEventListener('abort', close)
      shopper.removeEventListener('abort', leave)
      finish()
    }
    const fail = (view: TryOnView, problem = view.problem ?? emailWanted) =>
      end(() => reject(new TryOnError(problem, view.attempt?.jobId ?? null)))
    const stop = (reason: 'aborted' | 'startedOver' | 'closed') => () => fail(tryOn.get(), { kind: 'stopped', reason })
    const other = ({ jobId }: AttemptView) =>
      end(() => reject(new TryOnError({ kind: 'stopped', reason: 'startedOver' }, jobId)))
    const abort = stop('aborted')
    const leave = stop('startedOver')
    const close = stop('closed')

    const look = (view: TryOnView) => {
      const wasBegun = begun
      begun ||= view.state !== 'idle' && view.state !== 'restoring'
      if (!isHeard) return
      // another one has taken its place
      if (mine && view.attempt && view.attempt.id !== mine.id) return other(mine)
      mine = view.attempt ?? mine
      if (view.state === 'final') end(() => resolve(view.result))
      else if (stops.includes(view.state) || (rejectOnInput && inputs.includes(view.state))) fail(view)
      else if (view.state === 'idle' && (wasBegun || view.problem)) (view.problem ? fail : leave)(view)
    }

    const subscription = tryOn.subscribe(look)
    life.addEventListener('abort', close)
    // the next one's picture is nobody else's
    shopper.addEventListener('abort', leave)
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) return abort()
    void heard.then((refusal) => {
      isHeard = true
      if (isOver) return
      if (refusal) end(() => reject(refusal))
      else look(tryOn.get())
    })
  })
}

/** The first view that tells what storage holds. */
export function readyOf(tryOn: Pick<Readable<TryOnView>, 'get' | 'subscribe'>, life: AbortSignal): Promise<TryOnView> {
  return new Promise((resolve, reject) => {
    const end = () => {
      unsubscribe()
      life.removeEventListener('abort', close)
    }
    const close = () => {
      end()
      reject(new TryOnError({ kind: 'stopped', reason: 'closed' }))
    }
    const look = (view: TryOnView) => {
      if (view.state === 'restoring') return
      end()
      resolve(view)
    }
    const { unsubscribe } = tryOn.subscribe(look)
    life.addEventListener('abort', close)
    look(tryOn.get())
  })
}
