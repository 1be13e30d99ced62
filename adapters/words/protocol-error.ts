import type { Problem, TryOnView } from 'fitting-room'

/** Whether what stopped it came before its submission was sent, so that no try-on can have been started. */
export const nothingSent = ({ attempt, problem }: TryOnView): boolean =>
  !attempt?.jobId && problem?.kind === 'protocol' && problem.operation !== 'createGeneration'

/** Whether the service has the job no more, or never had one of that ID. */
export const isJobUnknown = ({ problem }: { problem?: Problem | null }): boolean =>
  problem?.kind === 'protocol' && problem.operation === 'getGeneration' && problem.status === 404
