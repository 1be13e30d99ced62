import type { Problem, ProblemKind } from './problem.ts'

/** What each kind of problem says to developers. */
export type ProblemTexts = { [Kind in ProblemKind]: string | ((of: Extract<Problem, { kind: Kind }>) => string) }

/** What can be wrong before the core is there. */
export type DoorProblemKind = 'input' | 'core' | 'stopped'

const texts: Pick<ProblemTexts, DoorProblemKind> & Partial<ProblemTexts> = {
  input: ({ at, given, valid, example }) =>
    `"${at}" is not valid${part(': given ', given)}${part('; valid is ', valid)}${part(', for example ', example)}`,
  core: ({ reload }) => `the core could not be loaded; ${reload ? 'reload the page' : 'resume() tries again'}`,
  stopped: ({ reason }) => `the wait ended: ${reason}`,
}

const part = (before: string, text: string | undefined) => (text === undefined ? '' : before + text)

/** The core brings the texts of its problems, so that no product page loads them. */
export const learnTexts = (learnt: Partial<ProblemTexts>): void => void Object.assign(texts, learnt)

/**
 * What happened and what helps, for developers; `fitting-room/words` has the texts for shoppers. Nothing of null. Until the
 * core is loaded, which brings most of the texts, it gives a problem as JSON.
 */
export function explain(of: Problem | null): string {
  if (!of) return ''
  const text = texts[of.kind] as string | ((of: Problem) => string) | undefined
  return typeof text === 'function' ? text(of) : (text ?? JSON.stringify(of))
}
