import { endpoints, type Operation } from 'fitting-room/contract'
import type { Fetch } from 'fitting-room'
import { IpLimiter } from '../../service/src/ip-limiter.ts'
import { models, type JobTimes } from './jobs.ts'
import type { VirtualTime } from './time.ts'

/** One job as the service knows it. */
interface Job extends JobTimes {
  device: number
  acceptedAt: number
  /** When its device was first told of it; null until it is. */
  previewSeenAt: number | null
  finalSeenAt: number | null
}

export interface CrowdService {
  /** The way from one device through the one IP; `lossOf` says of each answer whether it is lost. */
  fetchOf(device: number): Fetch
  jobs: Job[]
  /** How many requests came, and how many of them were refused. */
  requests: Record<Operation, number>
  refused: Record<Operation, number>
}

interface ServiceTerms {
  time: VirtualTime
  timesOf(device: number, job: number, funnelId: number): JobTimes
  /** One way, in ms. */
  latencyMs(): number
  isLost(): boolean
  /** Whether there is no count of an IP. */
  isUncounted?: boolean
}

const none = () =>
  Object.fromEntries(Object.keys(endpoints).map((operation) => [operation, 0])) as Record<Operation, number>

const operationOf = (method: string, path: string): Operation => {
  const [found] = Object.entries(endpoints).find(
    ([, known]) => known.method === method && known.path.split('/')[1] === path.split('/')[1],
  ) as [Operation, unknown]
  return found
}

/** The contract's answers, with the service's own count of an IP and jobs that take the time that a scenario says. */
export function crowdService({ time, timesOf, latencyMs, isLost, isUncounted = false }: ServiceTerms): CrowdService {
  const limiter = new IpLimiter(time.clockOf(0))
  const jobs: Job[] = []
  const jobsOfDevice = new Map<number, number>()
  const [requests, refused] = [none(), none()]

  function accept(device: number, funnelId: number) {
    const nth = jobsOfDevice.get(device) ?? 0
    jobsOfDevice.set(device, nth + 1)
    const now = time.now()
    const seen = { previewSeenAt: null, finalSeenAt: null }
    jobs.push({ ...timesOf(device, nth, funnelId), ...seen, device, acceptedAt: now })
    return { jobId: idOf(jobs.length - 1), etaSeconds: 40, uniqueUserId: `visitor-${device}` }
  }

  function poll(jobId: string) {
    const job = jobs[Number.parseInt(jobId.slice(-12), 16)]!
    const age = time.now() - job.acceptedAt
    if (age < job.previewMs) return { status: 'PROCESSING' }
    const isFinal = age >= job.finalMs
    job.previewSeenAt ??= time.now()
    if (isFinal) job.finalSeenAt ??= time.now()
    return {
      status: 'SUCCESS',
      imageUrl: 'https://pictures.test/p.png',
      requestsLeft: -1,
      totalRequests: 1,
      uniqueUserId: `visitor-${job.device}`,
      storageStatus: isFinal ? 'READY' : 'PENDING',
    }
  }

  function dataOf(operation: Operation, device: number, path: string, funnelId: number): object {
    if (operation === 'getFunnel')
      return { id: funnelId, funnelType: 'upper_body', generationModel: models[funnelId as keyof typeof models] }
    if (operation === 'createUpload')
      return { uploadUrl: 'https://uploads.test/u', imageUrl: 'https://uploads.test/i.png' }
    if (operation === 'createGeneration') return accept(device, funnelId)
    if (operation === 'getGeneration') return poll(path.split('/')[2] ?? '')
    return { requestsLeft: -1, totalRequests: 0, uniqueUserId: `visitor-${device}` }
  }

  return {
    jobs,
    requests,
    refused,
    fetchOf: (device) => async (url, init) => {
      const { pathname: path, searchParams } = new URL(url as string)
      const { funnelId = Number(searchParams.get('funnelIds')) } = init?.body ? JSON.parse(init.body as string) : {}
      const operation = operationOf(init?.method ?? 'GET', path)
      await time.wait(latencyMs())
      requests[operation] += 1
      const waitSeconds = isUncounted ? 0 : limiter.count('one', operation)
      if (waitSeconds > 0) refused[operation] += 1
      const answer =
        waitSeconds > 0
          ? { status: 429, body: { error: 'Rate limit exceeded', message: 'Too many requests' } }
          : { status: 200, body: { data: dataOf(operation, device, path, funnelId) } }
      await time.wait(latencyMs())
      if (isLost()) throw new TypeError('Failed to fetch')
      const header = waitSeconds > 0 ? String(waitSeconds) : null
      // a Response of the platform's would take turns that no clock knows of
      return {
        status: answer.status,
        headers: { get: (name: string) => (name === 'Retry-After' ? header : null) },
        text: async () => JSON.stringify(answer.body),
      } as unknown as Response
    },
  }
}

const idOf = (index: number) => `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`
