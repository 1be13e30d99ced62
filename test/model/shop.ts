import { TryOnError, type TryOnView } from 'fitting-room'
import { manualClock } from '../support/manual-clock.ts'
import { failingPhoto, ledgeredService, readyAfterMs } from './ledgered-service.ts'
import { baseUrl, Disk, openPage, type Page } from './tested-room.ts'

/** What the network and the service do to one exchange. */
export const faultsOf = {
  submission: [
    'lostBefore',
    'lostAfter',
    'never',
    'late',
    'error',
    'errorAfter',
    'malformed',
    'throttled',
    'limit',
    'email',
    'key',
    'refused',
  ],
  poll: ['lostBefore', 'error', 'malformed', 'throttled', 'key'],
  read: ['lostBefore', 'lostAfter', 'error', 'throttled', 'malformed', 'key', 'refused'],
} as const satisfies Record<string, string[]>
export type Place = keyof typeof faultsOf

export type Command =
  | { do: 'start' | 'retry'; page: number; fails: boolean }
  | { do: 'startOver' | 'resume'; page: number }
  | { do: 'submitEmail' | 'reset' | 'kill' | 'reload'; page: number }
  | { do: 'discard'; page: number; abandonPaidJob: boolean }
  | { do: 'wait' | 'sleep' | 'setBack'; ms: number }
  | { do: 'fault'; place: Place; fault: string }

/** What one word of the shopper led to: one submission may have an unknown outcome, and no more. */
interface Word {
  unsure: boolean
  /** The shopper has said that this may be forgotten. */
  abandoned: boolean
  /** Jobs whose ID a page has read from an answer. */
  told: Set<string>
}

const refusals: Record<string, [number, object, Record<string, string>?]> = {
  error: [500, { error: 'Internal error' }],
  throttled: [429, { error: 'Rate limit exceeded', message: 'Too many requests' }, { 'Retry-After': '20' }],
  limit: [429, { error: 'try_on_limit_reached', code: 'TRY_ON_LIMIT_REACHED', message: 'Come back tomorrow!' }],
  email: [403, { error: 'email_required', code: 'EMAIL_REQUIRED' }],
  key: [401, { error: 'Unauthorized' }],
  refused: [400, { error: 'Invalid request' }],
}
const definite = new Set(['throttled', 'limit', 'email', 'key', 'refused'])
const png = [0x89, ...Array.from('PNG\r\n\x1a\n', (char) => char.charCodeAt(0))]

/** How long a page may take to notice that a clock has jumped or that another page has taken over, in ms. */
const noticeMs = 1_000

/** Two pages of one shopper on one disk, the real service behind a network that misbehaves, and the reference of the promises. */
export class Shop {
  readonly violations: string[] = []
  /** What happened, in order, to be read when a sequence fails. */
  readonly trace: string[] = []
  readonly seen = { submissions: 0, jobs: 0, faults: 0, views: 0 }
  private readonly clock = manualClock()
  private readonly disk = new Disk()
  private readonly backend = ledgeredService(this.clock, baseUrl)
  private readonly words: Word[] = []
  private readonly wordOfAttempt = new Map<string, number>()
  private readonly plans: { place: Place; fault: string }[] = []
  private readonly pages: Page[] = []
  private skewMs = 0
  private busy = 0

  constructor(pages = 2) {
    for (let page = 0; page < pages; page++) this.load(page)
  }

  private load(at: number): void {
    const page = openPage(
      this.disk,
      this.clock,
      () => this.clock.now() + this.skewMs,
      (input, init) => this.send(page, new Request(input, init)),
    )
    page.tryOn.subscribe((view) => page.killed || this.judge(view))
    this.pages[at] = page
  }

  /** One exchange: what happens to it was planned, or nothing does. */
  private async send(page: Page, request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const submission = request.method === 'POST' && pathname === '/generations'
    const place = submission ? 'submission' : pathname.startsWith('/generations/') ? 'poll' : 'read'
    const planned = this.plans.findIndex((plan) => plan.place === place)
    const [{ fault } = { fault: 'none' }] = planned < 0 ? [] : this.plans.splice(planned, 1)
    const word = submission ? this.submitted(await request.clone().json()) : undefined
    this.trace.push(`  page ${this.pages.indexOf(page)}: ${request.method} ${pathname}, ${fault}`)
    if (fault !== 'none') this.seen.faults++
    this.busy++
    try {
      const answer = await this.meet(fault, () => this.backend.service.fetch(request, { ip: '203.0.113.7' }))
      if (word && definite.has(fault)) word.unsure = false
      if (word && answer.ok && fault !== 'malformed' && !page.killed) {
        const { data } = (await answer.clone().json()) as { data: { jobId: string } }
        word.told.add(data.jobId)
      }
      return answer
    } finally {
      this.busy--
    }
  }

  private submitted({ imageUrl }: { imageUrl: string }): Word | undefined {
    const word = this.words[Number(/\/word-(\d+)-/.exec(imageUrl)?.[1])]
    if (!word) this.violations.push(`paid without a word: ${imageUrl}`)
    if (word?.unsure) this.violations.push('paid twice: a submission whose outcome is not a rejection was sent again')
    if (word) word.unsure = true
    this.seen.submissions++
    return word
  }

  private async meet(fault: string, reach: () => Promise<Response>): Promise<Response> {
    const refusal = refusals[fault]
    if (refusal) return new Response(JSON.stringify(refusal[1]), { status: refusal[0], headers: refusal[2] ?? {} })
    if (fault === 'lostBefore') throw new TypeError('lost before it arrived')
    const answer = await reach()
    if (fault === 'lostAfter') throw new TypeError('lost after it arrived')
    if (fault === 'errorAfter') return new Response('{"error":"Internal error"}', { status: 500 })
    if (fault === 'malformed') return new Response('{"data":{"jobId":7,"status":"DONE"}}')
    if (fault !== 'never' && fault !== 'late') return answer
    this.busy--
    await new Promise<void>((resolve) => fault === 'late' && this.clock.setTimeout(resolve, 90_000))
    this.busy++
    return answer
  }

  /** Whether the service's own ledger denies what a page shows. */
  private judge(view: TryOnView, settled = false): void {
    this.seen.views++
    this.readDisk()
    const { jobs } = this.backend
    this.trace.push(
      `  ${settled ? 'then' : 'view'} ${view.state} ${view.attempt?.id ?? ''} ${view.attempt?.jobId ?? ''}`,
    )
    const deny = (why: string) => this.violations.push(`untrue: ${view.state}, but ${why}`)
    const job = view.attempt?.jobId ? jobs.get(view.attempt.jobId) : undefined
    const word = view.attempt ? this.wordOfAttempt.get(view.attempt.id) : undefined
    if (view.attempt?.jobId && !job) deny('the service knows no such job')
    if (job && word !== undefined && !job.photoUrl.includes(`/word-${word}-`)) deny('the job is of another word')
    if (['processing', 'preview', 'final', 'failed'].includes(view.state) && !job) deny('there is no job')
    if (view.preview && job?.pictures?.preview !== view.preview.imageUrl) deny('that is not the preview')
    if (view.result && job?.pictures?.final !== view.result.imageUrl) deny('that is not the picture')
    if (view.state === 'final' && (!job || this.clock.now() < job.readyAt)) deny('the picture is not ready')
    if (view.state === 'failed' && job?.state !== 'failed') deny('the job has not failed')
    // what another page shows is as old as its message, until that has come
    const saysNothingStarted =
      settled &&
      (['preparing', 'rejected', 'needsEmail', 'limitReached'].includes(view.state) ||
        (view.state === 'unauthorized' && !view.attempt.jobId) ||
        (view.state === 'submitting' && view.waitingUntil !== null))
    const started = [...jobs.values()].some(({ photoUrl }) => photoUrl.includes(`/word-${word}-`))
    if (saysNothingStarted && word !== undefined && started) deny('a job was started')
  }

  /** Which word each attempt on the disk belongs to. */
  private readDisk(): number[] {
    const found: number[] = []
    for (const value of this.disk.values.values()) {
      const { attemptId, customKey } = JSON.parse(value) as { attemptId?: string; customKey?: string }
      if (!attemptId || !customKey) continue
      const word = Number(customKey.slice('word-'.length))
      this.wordOfAttempt.set(attemptId, word)
      found.push(word)
    }
    return found
  }

  async settle(): Promise<void> {
    for (let quiet = 0; quiet < 6; quiet = this.busy > 0 ? 0 : quiet + 1) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.readDisk()
    for (const page of this.pages) if (!page.killed) this.judge(page.tryOn.get(), true)
  }

  /** Lets time pass as it does for pages that run. */
  private async wait(ms: number): Promise<void> {
    const end = this.clock.now() + ms
    while (this.clock.now() < end) {
      this.clock.advance(Math.min(500, end - this.clock.now()))
      await this.settle()
    }
  }

  private intent(work: () => Promise<void>): Promise<boolean> {
    return work().then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof TryOnError)) this.violations.push(`an intent broke: ${String(error)}`)
        return false
      },
    )
  }

  private photo(fails: boolean): { photo: Blob; customKey: string } {
    const word = this.words.push({ unsure: false, abandoned: false, told: new Set() }) - 1
    const bytes = Uint8Array.from([...png, word, fails ? failingPhoto : 0])
    return { photo: new Blob([bytes], { type: 'image/png' }), customKey: `word-${word}` }
  }

  private abandon(words: Iterable<number>): void {
    for (const word of words) this.words[word]!.abandoned = true
  }

  async run(command: Command): Promise<void> {
    this.trace.push(JSON.stringify(command))
    const page = 'page' in command ? this.pages[command.page % this.pages.length]! : this.pages[0]!
    const { tryOn } = page
    switch (command.do) {
      case 'start':
      case 'retry': {
        const { photo, customKey } = this.photo(command.fails)
        void this.intent(() => tryOn[command.do](photo, { customKey }))
        break
      }
      case 'submitEmail':
        void this.intent(() => tryOn.submitEmail({ email: 'ada@example.com' }))
        break
      case 'startOver':
      case 'resume':
        void this.intent(() => tryOn[command.do]())
        break
      case 'discard': {
        const { attempt } = tryOn.get()
        const word = attempt && this.wordOfAttempt.get(attempt.id)
        void this.intent(() => tryOn.discard(command)).then((done) => {
          if (done && typeof word === 'number') this.abandon([word])
        })
        break
      }
      case 'reset':
        this.abandon(this.words.keys())
        void this.intent(() => page.room.reset())
        break
      case 'kill':
        page.kill()
        this.load(command.page % this.pages.length)
        break
      case 'reload':
        page.room.close()
        await this.settle()
        page.kill()
        this.load(command.page % this.pages.length)
        break
      case 'wait':
        await this.wait(command.ms)
        break
      case 'sleep':
        this.clock.advance(command.ms)
        await this.wait(noticeMs)
        break
      case 'setBack':
        this.skewMs -= command.ms
        await this.wait(noticeMs)
        break
      case 'fault':
        this.plans.push(command)
        break
    }
    await this.settle()
  }

  /** With a network that behaves again, every job that a page was told of is reached by a page that knows only the disk. */
  async reachAll(): Promise<void> {
    this.plans.length = 0
    this.skewMs = 0
    for (const page of this.pages) page.kill()
    // the killed page's lease has to end, and the shared IP count to sink
    this.clock.advance(61_000)
    this.pages.length = 0
    this.load(0)
    const [page] = this.pages as [Page]
    await this.wait(3_000)
    const listed = await page.room.list()
    for (const [word, { told, abandoned }] of this.words.entries()) {
      for (const jobId of abandoned ? [] : told) {
        const entry = listed.find((each) => each.jobId === jobId)
        if (!entry) {
          this.violations.push(`lost: the job of word ${word} is in no record`)
          continue
        }
        const tryOn = entry.open()
        tryOn.subscribe((view) => this.judge(view))
        await this.wait(3_000)
        if (tryOn.get().can.resume) await this.intent(() => tryOn.resume())
        await this.wait(readyAfterMs + 3_000)
        const { state, attempt } = tryOn.get()
        const reached = attempt?.jobId === jobId && (state === 'final' || state === 'failed')
        if (!reached) this.violations.push(`lost: the job of word ${word} ended as ${state}`)
      }
    }
    this.seen.jobs = this.backend.jobs.size
  }

  async close(): Promise<void> {
    for (const page of this.pages) page.room.close()
    await this.backend.service.close()
  }
}
