import type { Violation } from './violation.ts'
import type { Sequence } from './operations.ts'

/** Which of the known defects of version 0.1.0 a smallest sequence shows, by what it cannot do without. */
export function labelOf({ rule }: Violation, { setup, ops }: Sequence): string {
  const text = JSON.stringify(ops)
  const has = (part: string) => text.includes(`"${part}"`)
  const isTroubled = ['fail', 'full', 'hang', 'failThenOk', 'hangThenLand'].some(has)
  const isLate = ['hold', 'stall', 'stallMidWrite'].some(has)
  if (has('inject')) return 'M'
  if (text.includes('"page":2')) return 'F'
  if (has('again')) return 'L'
  if (has('wall')) return 'E'
  if (rule === 10) return 'G'
  if (has('clear')) return 'D'
  if (rule === 7) return 'I'
  if (rule === 6) return isTroubled ? 'B' : has('apiKey') ? 'K' : 'H'
  if ((rule === 1 || rule === 2) && setup.storage === 'chain' && isTroubled) return 'A'
  if (rule === 2 && has('age')) return 'A'
  if (setup.storage === 'chain' && isTroubled) return 'B'
  return !setup.locks && isLate ? 'C' : '?'
}
