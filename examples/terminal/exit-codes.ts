import type { Problem, TryOnState } from 'fitting-room'

/** What the process ends with; docs/terminal.md lists them. */
export const exitCodes = {
  final: 0,
  usage: 2,
  failed: 3,
  outcomeUnknown: 4,
  limitReached: 5,
  needsEmail: 6,
  unauthorized: 7,
  rejected: 8,
  stalled: 9,
  protocolError: 10,
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** The exit code of a state that a run can stop in. */
export function exitCodeOf(state: TryOnState): ExitCode {
  return state in exitCodes ? exitCodes[state as keyof typeof exitCodes] : exitCodes.rejected
}

/** Input that the caller can correct is a matter of usage. */
export const isUsage = (problem: Problem) => problem.kind === 'input' || problem.kind === 'photo'
