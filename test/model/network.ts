import { createService, intakeInMemory, memoryBlobs, parseConfig, type Job, type Service } from '@fitting-room/service'
import type { Clock } from 'fitting-room'
import { openLedger } from '../support/open-ledger.ts'
import type { Step } from './operations.ts'
import { baseUrl, type Page } from './page.ts'

const previewAfterMs = 4_000
const readyAfterMs = 8_000

/** The last byte of a photo whose job fails. */
const failing = 0xff
const head = [0x89, ...Array.from('PNG\r\n\x1a\n', (char) => char.charCodeAt(0))]

/** A photo of the model: a PNG by its first bytes, then the word that it was given with, and whether its job fails. */
export const photoBytes = (word: number, fails: boolean) => Uint8Array.from([...head, word, fails ? failing : 0])
export const wordOfBytes = (bytes: ArrayBuffer) => new Uint8Array(bytes)[head.length] ?? 0

const variants = (id: string) => [{ id, title: 'M' }]
const config = parseConfig({
  stores: [
    {
      id: 'main',
      apiKey: 'main-key',
      integrations: { sdk: true, api: true },
      storefront: null,
      email: null,
      tryOnCap: null,
      credits: null,
      funnels: [{ id: 12, funnelType: 'upper_body', generationModel: 'SERVICE_FAST', productIds: ['1001', '1002'] }],
      products: [
        { id: '1001', title: 'Tee', variants: variants('2001') },
        { id: '1002', title: 'Shirt', variants: variants('2101') },
      ],
    },
  ],
  generation: { previewAfterMs, readyAfterMs },
})

/** What the network and the service do to one exchange. */
export const faultsOf = {
  submission: [
    'throttled',
    'throttledShort',
    'throttledLong',
    'lostBefore',
    'lostAfter',
    'never',
    'late',
    'error',
    'errorAfter',
    'malformed',
    'limit',
    'email',
    'key',
    'refused',
  ],
  poll: ['lostBefore', 'error', 'malformed', 'throttled', 'key'],
  read: ['lostBefore', 'lostAfter', 'error', 'throttled', 'malformed', 'key', 'refused'],
  /** Of an e-mail address, which otherwise is met as what is read is. */
  registration: ['throttled', 'throttledLong', 'error'],
} as const satisfies Record<string, readonly string[]>
export type Place = keyof typeof faultsOf

const tooMany = { error: 'Rate limit exceeded', message: 'Too many requests' }
const refusals: Record<string, [number, object, Record<string, string>?]> = {
  error: [500, { error: 'Internal error' }],
  throttled: [429, tooMany, { 'Retry-After': '20' }],
  throttledShort: [429, tooMany, { 'Retry-After': '3' }],
  throttledLong: [429, tooMany, { 'Retry-After': '100' }],
  limit: [429, { error: 'try_on_limit_reached', code: 'TRY_ON_LIMIT_REACHED', message: 'Come back tomorrow!' }],
  email: [403, { error: 'email_required', code: 'EMAIL_REQUIRED' }],
  key: [401, { error: 'Unauthorized' }],
  refused: [400, { error: 'Invalid request' }],
}
const definite = new Set(['throttled', 'throttledShort', 'throttledLong', 'limit', 'email', 'key', 'refused'])

/** What the judge hears of submissions. */
export interface Witness {
  sent(page: Page, request: Request, body: string): void
  submitted(page: Page, body: string): { refused(): void; told(jobId: string, visitor: string | null): void }
  saved(job: Job): void
}

/** The real service, with its ledger of jobs laid open, behind a network that misbehaves as it was planned. */
export class Network {
  readonly jobs: ReadonlyMap<string, Job>
  readonly plans: { place: Place; fault: string }[] = []
  /** Exchanges that go on by themselves. */
  busy = 0
  faults = 0
  private readonly service: Service
  private readonly clock: Clock
  private readonly witness: Witness

  constructor(clock: Clock, witness: Witness) {
    this.clock = clock
    this.witness = witness
    const { store, jobs } = openLedger((job) => witness.saved(job))
    this.jobs = jobs
    const blobs = memoryBlobs()
    // photos that have a URL already lie on the service's own host: nothing is fetched from elsewhere
    const given = async (name: string) => {
      const [, word, fails] = /^word-(\d+)-(good|bad)\.png$/.exec(name) ?? []
      return word === undefined
        ? blobs.get(name)
        : { bytes: photoBytes(Number(word), fails === 'bad'), type: 'image/png' }
    }
    // drawing pictures is not what is tested, and there are thousands of jobs
    const picture = { bytes: new Uint8Array(1), type: 'image/png' }
    const generator = async (photo: Uint8Array) => {
      if (photo.at(-1) === failing) throw new Error('this photo fails')
      return { preview: picture, final: picture }
    }
    this.service = createService({
      config,
      publicUrl: baseUrl,
      clock,
      store,
      blobs: { ...blobs, get: given },
      generator,
      takePhoto: intakeInMemory,
      // the drawings that fail were planned
      report: () => {},
    })
  }

  /** One exchange of a page: what happens to it was planned, or nothing does. */
  readonly send = async (page: Page, request: Request): Promise<Response> => {
    if (page.killed) return new Promise(() => {})
    const { pathname } = new URL(request.url)
    const isSubmission = request.method === 'POST' && pathname === '/generations'
    const place: Exclude<Place, 'registration'> = isSubmission
      ? 'submission'
      : pathname.startsWith('/generations/')
        ? 'poll'
        : 'read'
    const body = request.method === 'POST' ? await request.clone().text() : ''
    if (page.killed) return new Promise(() => {})
    this.witness.sent(page, request, body)
    const judged = isSubmission ? this.witness.submitted(page, body) : null
    const isRegistration = pathname === '/customer-register'
    const fault = (isRegistration ? this.planned('registration') : null) ?? this.planned(place) ?? 'none'
    const answer = await this.while(() => this.meet(fault, page, request))
    await page.reach(stepOf(request.method, place))
    if (answer instanceof Error) throw answer
    if (judged && definite.has(fault)) judged.refused()
    if (judged && answer.ok && fault !== 'malformed') {
      const { data } = (await answer.clone().json()) as { data: { jobId: string; uniqueUserId: string | null } }
      judged.told(data.jobId, data.uniqueUserId)
    }
    return answer
  }

  close(): Promise<void> {
    return this.service.close()
  }

  private planned(place: Place): string | undefined {
    const at = this.plans.findIndex((plan) => plan.place === place)
    const [plan] = at < 0 ? [] : this.plans.splice(at, 1)
    if (plan) this.faults++
    return plan?.fault
  }

  private async while<T>(work: () => Promise<T>): Promise<T> {
    this.busy++
    try {
      return await work()
    } finally {
      this.busy--
    }
  }

  private async meet(fault: string, { ledger }: Page, request: Request): Promise<Response | Error> {
    const refusal = refusals[fault]
    if (refusal) return new Response(JSON.stringify(refusal[1]), { status: refusal[0], headers: refusal[2] ?? {} })
    if (fault === 'lostBefore') return new TypeError('lost before it arrived')
    // each shopper has an address, and with it a visitor, of its own
    const ip = `203.0.${ledger.name.charCodeAt(0)}.${ledger.shopper % 250}`
    const answer = await this.service.fetch(request, { ip })
    if (fault === 'lostAfter') return new TypeError('lost after it arrived')
    if (fault === 'errorAfter') return new Response('{"error":"Internal error"}', { status: 500 })
    if (fault === 'malformed') return new Response('{"data":{"jobId":7,"status":"DONE"}}')
    if (fault !== 'never' && fault !== 'late') return answer
    this.busy--
    await new Promise<void>((resolve) => fault === 'late' && this.clock.setTimeout(resolve, 90_000))
    this.busy++
    return answer
  }
}

/** What a page waits for in this exchange, by which it can be held or stalled. */
function stepOf(method: string, place: Exclude<Place, 'registration'>): Step {
  if (place !== 'read') return place
  return method === 'GET' ? 'read' : 'upload'
}
