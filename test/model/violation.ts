/** What each invariant guards. */
export const guards = {
  1: 'paid twice',
  2: 'paid twice',
  3: 'lost',
  4: 'untrue',
  5: 'untrue',
  6: 'leaking',
  7: 'untrue',
  8: 'lost',
  9: 'untrue',
  10: 'leaking',
  11: 'untrue',
  12: 'untrue',
} as const
export type Rule = keyof typeof guards
type Harm = (typeof guards)[Rule]

export interface Violation {
  rule: Rule
  harm: Harm
  why: string
}
