import { explain } from './explain.ts'
import type { Problem, StoppedProblem } from './problem.ts'

class ErrorOf<P extends Problem> extends Error {
  override readonly name = 'TryOnError'
  readonly problem: P
  /** The ID of the job, which may have been paid for; null if none is known. */
  readonly jobId: string | null

  constructor(of: P, jobId: string | null = null, cause?: unknown) {
    const told = jobId === null ? explain(of) : `${explain(of)} (job ${jobId})`
    super(told, cause === undefined ? undefined : { cause })
    this.problem = of
    this.jobId = jobId
  }

  /** The kind of its `problem`; it narrows that. */
  get kind(): P['kind'] {
    return this.problem.kind
  }
}

type EachError<P extends Problem> = P extends Problem ? ErrorOf<P> : never

/** What intents and `result()` reject with: a problem, and the job ID wherever one is known. */
export type TryOnError = EachError<Problem>

interface TryOnErrorClass {
  new <P extends Problem>(problem: P, jobId?: string | null, cause?: unknown): EachError<P>
  readonly prototype: TryOnError
}

// a class is no union, but each of its objects is one member of it: so `kind` narrows `problem`
export const TryOnError = ErrorOf as TryOnErrorClass

/** What is waited for does not come: its attempt was left, its room closed, or its wait ended. */
export const stopped = (reason: StoppedProblem['reason']) => new TryOnError({ kind: 'stopped', reason })

/** Whether a value is a `TryOnError`, even one from another frame or another copy of this package. */
export function isTryOnError(value: unknown): value is TryOnError {
  const { name, problem: of }: { name?: unknown; problem?: { kind?: unknown } | null } = Object(value)
  return name === 'TryOnError' && typeof of?.kind === 'string'
}
