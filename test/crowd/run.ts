import { jobTimesOf, type Distribution } from './jobs.ts'
import { randomOf } from './random.ts'
import { crowdService } from './service.ts'
import type { Device, End, Strategy } from './strategies.ts'
import { virtualTime } from './time.ts'

/** Who comes through the one IP, and when. */
export interface Scenario {
  devices: number
  /** How long it is played, in ms. */
  durationMs: number
  distribution: Distribution
  /** How long a device has nobody after a shopper, in ms. */
  pauseMs(random: () => number, nowMs: number): number
  /** When a device begins, and when it goes, in ms. */
  present?(device: number, random: () => number): [from: number, to: number]
  /** How wrong a device's clock is, in ms. */
  wrongByMs?(random: () => number): number
  /** The funnels that shoppers take by turns. Default: one. */
  funnelIds?: readonly number[]
  /** Whether the devices are told how many they are. */
  isKnown?: boolean
  /** The share of answers that are lost. */
  loss?: number
}

export interface Result {
  finals: { device: number; at: number }[]
  submissions: number
  requests: Record<string, number>
  refused: Record<string, number>
  /** From ready to seen, in ms. */
  previewDelays: number[]
  finalDelays: number[]
  /** From a shopper's word to the acceptance, in ms. */
  waits: number[]
  ends: Record<End, number>
  perDevice: number[]
  jobs: number
}

/** Plays a scenario with one strategy; the same seed gives the same shoppers, jobs and losses. */
export async function play(scenario: Scenario, strategy: Strategy, seed: number): Promise<Result> {
  const time = virtualTime()
  const network = randomOf(seed, 'network')
  const { loss = 0, present = () => [0, Infinity] as const, wrongByMs = () => 0, funnelIds = [12] } = scenario
  const service = crowdService({
    time,
    timesOf: jobTimesOf(seed, scenario.distribution),
    latencyMs: () => 40 + 80 * network(),
    isLost: () => network() < loss,
  })
  const waits: number[] = []
  const ends: Record<End, number> = {}
  const finals: Result['finals'] = []
  const random = Math.random
  Math.random = randomOf(seed, 'library')

  async function live(index: number): Promise<void> {
    const own = randomOf(seed, 'device', index)
    const [from, to] = present(index, own)
    await time.wait(from + scenario.pauseMs(own, 0) * own())
    const device: Device = strategy({
      time,
      clock: time.clockOf(wrongByMs(own)),
      fetch: service.fetchOf(index),
      shareOf: scenario.isKnown ? scenario.devices : undefined,
    })
    for (let nth = 0; time.now() < to; nth += 1) {
      const saidAt = time.now()
      const before = service.jobs.length
      const end = await device.serve(funnelIds[nth % funnelIds.length]!)
      const job = service.jobs.findLast((each, at) => at >= before && each.device === index)
      if (job) waits.push(job.acceptedAt - saidAt)
      if (end === 'final') finals.push({ device: index, at: time.now() })
      ends[end] = (ends[end] ?? 0) + 1
      await time.wait(scenario.pauseMs(own, time.now()))
    }
  }

  try {
    for (let index = 0; index < scenario.devices; index += 1) void live(index)
    await time.runUntil(scenario.durationMs)
  } finally {
    Math.random = random
  }
  const seen = (of: 'preview' | 'final') =>
    service.jobs.flatMap((job) => {
      const at = job[`${of}SeenAt`]
      // who saw the final picture first saw no preview
      if (at === null || (of === 'preview' && at >= job.acceptedAt + job.finalMs)) return []
      return [at - job.acceptedAt - job[`${of}Ms`]]
    })
  return {
    finals,
    submissions: service.requests.createGeneration,
    requests: service.requests,
    refused: service.refused,
    previewDelays: seen('preview'),
    finalDelays: seen('final'),
    waits,
    ends,
    perDevice: Array.from(
      { length: scenario.devices },
      (_, index) => finals.filter(({ device }) => device === index).length,
    ),
    jobs: service.jobs.length,
  }
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

export function quantile(numbers: readonly number[], share: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? NaN
}

/** 1 where all have got the same, 1/n where one has got everything. */
export const jain = (shares: readonly number[]): number =>
  sum(shares) ** 2 / (shares.length * sum(shares.map((each) => each ** 2)))
