import { jain, quantile, sum, type Result, type Scenario } from './run.ts'

const percent = (share: number) => `${(100 * share).toFixed(1)} %`
const seconds = (delays: readonly number[]) => `${(quantile(delays, 0.5) / 1000).toFixed(2)} s`
const aMinute = (count: number, ms: number) => (count / (ms / 60_000)).toFixed(1)

/** Finals a minute, those of the second half in brackets. */
function rateOf({ finals }: Result, { durationMs }: Scenario): string {
  const late = finals.filter(({ at }) => at >= durationMs / 2).length
  return `${aMinute(finals.length, durationMs)} (${aMinute(late, durationMs / 2)})`
}

/** What docs/many-devices.md says of one scenario: what each strategy gives, and the rest of the last one. */
export function rowOf(name: string, scenario: Scenario, results: readonly Result[]): string {
  const own = results.at(-1)!
  const cells = [
    name,
    ...results.map((result) => rateOf(result, scenario)),
    percent(own.refused['createGeneration']! / own.submissions),
    seconds(own.previewDelays),
    seconds(own.finalDelays),
    (own.requests['getGeneration']! / own.jobs).toFixed(1),
    jain(own.perDevice).toFixed(2),
  ]
  return `| ${cells.join(' | ')} |`
}

/** What the bench prints beside it. */
export function detailsOf(name: string, result: Result): string {
  const some = (of: Readonly<Record<string, number>>) =>
    Object.entries(of)
      .filter(([, count]) => count > 0)
      .map(([what, count]) => `${what} ${count}`)
      .join(', ') || 'none'
  return [
    `    ${name}: final ${seconds(result.finalDelays)}, preview ${seconds(result.previewDelays)}`,
    `polls a job ${(result.requests['getGeneration']! / result.jobs).toFixed(1)}`,
    `requests a final ${(sum(Object.values(result.requests)) / result.finals.length).toFixed(1)}`,
    `waited ${seconds(result.waits)}, at most ${(Math.max(0, ...result.waits) / 1000).toFixed(0)} s`,
    `Jain ${jain(result.perDevice).toFixed(2)}`,
    `of ${result.submissions} submissions and the rest refused: ${some(result.refused)}`,
    `ends: ${some(result.ends)}`,
  ].join('; ')
}
