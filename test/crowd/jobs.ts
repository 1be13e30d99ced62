import { normal, randomOf } from './random.ts'

/** When a job shows its preview and its final picture, in ms after its acceptance. */
export interface JobTimes {
  previewMs: number
  finalMs: number
}

/** How long jobs take, by a random number generator of their own and the funnel, whose model makes the picture. */
export type Distribution = (random: () => number, funnelId: number) => JobTimes

/** Two funnels of one type, with a model each. */
export const models = { 12: 'SERVICE_FAST', 13: 'SERVICE_PRO' } as const

const withPreviewAt = (share: number, finalMs: number): JobTimes => ({ previewMs: share * finalMs, finalMs })
const logNormal = (medianMs: number, sigma: number, random: () => number) => medianMs * Math.exp(sigma * normal(random))

export const distributions = {
  /** What the strategies are tuned on: the contract's estimate, about right. */
  tuned: (random) => withPreviewAt(0.6, logNormal(40_000, 0.15, random)),
  /** As likely short as long. */
  uniform: (random) => withPreviewAt(0.6, 20_000 + 40_000 * random()),
  /** Most are done soon, some wait for a second machine. */
  bimodal: (random) => withPreviewAt(0.6, logNormal(random() < 0.7 ? 15_000 : 60_000, 0.1, random)),
  /** A day on which everything takes more than twice as long as is said. */
  slow: (random) => withPreviewAt(0.6, logNormal(90_000, 0.15, random)),
  /** Previews that tell little about when the rest is done. */
  loose: (random) => withPreviewAt(0.3 + 0.5 * random(), logNormal(40_000, 0.25, random)),
  /** A model that is done soon, and one that takes its time. */
  byModel: (random, funnelId) => withPreviewAt(0.6, logNormal(funnelId === 12 ? 20_000 : 60_000, 0.15, random)),
} satisfies Record<string, Distribution>

/** The times of a device's jobs, the same for every strategy that is compared. */
export function jobTimesOf(seed: number, distribution: Distribution) {
  return (device: number, job: number, funnelId: number): JobTimes =>
    distribution(randomOf(seed, 'job', device, job), funnelId)
}
