import type { Readable } from '../ports.ts'
import type { Problem } from '../rules/problem.ts'
import { stopped, TryOnError } from '../rules/try-on-error.ts'
import type { AttemptView, TryOnResult, TryOnView } from '../rules/view.ts'

export interface ResultOptions {
  /** Ends the wait, never the try-on. */
  signal?: AbortSignal | undefined
  /** Also rejects where a person is needed: at `needsEmail` and `unauthorized`. Default: false. */
  rejectOnInput?: boolean | undefined
}

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
    const end = (finish: () => void) => {
      subscription.unsubscribe()
      // each of them may live for much longer
      for (const [ends, stop] of stoppedBy) ends?.removeEventListener('abort', stop)
      finish()
    }
    const fail = (problem: Problem, attempt: AttemptView | null) =>
      end(() => reject(new TryOnError(problem, attempt?.jobId ?? null)))
    const stop = (reason: 'aborted' | 'startedOver' | 'closed', attempt = tryOn.get().attempt) =>
      fail({ kind: 'stopped', reason }, attempt)
    const stoppedBy = [
      [life, () => stop('closed')],
      // the next one's picture is nobody else's
      [shopper, () => stop('startedOver')],
      [signal, () => stop('aborted')],
    ] as const

    const look = (view: TryOnView) => {
      const { state, group, attempt, problem } = view
      const isInput = state === 'needsEmail' || state === 'unauthorized'
      const wasBegun = begun
      begun ||= state !== 'idle' && state !== 'restoring'
      if (!isHeard) return
      // another one has taken its place
      if (mine && attempt && attempt.id !== mine.id) return stop('startedOver', mine)
      mine = attempt ?? mine
      if (state === 'final') end(() => resolve(view.result))
      else if (isInput ? rejectOnInput : group === 'stopped') fail(problem ?? emailWanted, attempt)
      else if (state === 'idle' && problem) fail(problem, attempt)
      else if (state === 'idle' && wasBegun) stop('startedOver')
    }

    const subscription = tryOn.subscribe(look)
    for (const [ends, stop] of stoppedBy) ends?.addEventListener('abort', stop)
    if (signal?.aborted) return stop('aborted')
    void heard.then((refusal) => {
      isHeard = true
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
      reject(stopped('closed'))
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
