import type { Situation } from '../src/rules/outcome.ts'
import type { Trouble } from '../src/rules/view.ts'

/** The trouble of one request. */
export interface Wait {
  trouble: Trouble
  /** Whether the request is being made again, so that nothing waits. */
  isOut: boolean
}

/** What an outcome, or the problem that a record keeps of one, means for somebody who waits. */
export function troubleKind({ kind, situation }: { kind: string; situation: Situation }): Trouble['kind'] {
  if (kind === 'throttled') return 'throttled'
  return situation === 'offline' ? 'offline' : 'unavailable'
}
