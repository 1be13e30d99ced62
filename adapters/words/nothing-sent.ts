import type { TryOnView } from 'fitting-room'

/** Whether what stopped it came before its submission was sent, so that no try-on can have been started. */
export const nothingSent = ({ attempt, problem }: TryOnView): boolean =>
  !attempt?.jobId && problem?.kind === 'protocol' && problem.operation !== 'createGeneration'
