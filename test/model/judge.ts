import type { Job } from '@fitting-room/service'
import type { Clock, TryOnView } from 'fitting-room'
import type { Disk } from './disk.ts'
import type { Witness } from './network.ts'
import type { Setup } from './operations.ts'
import { noticeMs, type Page } from './page.ts'
import { Leavings } from './leavings.ts'
import { Shelves } from './shelves.ts'
import { truthOf } from './truth.ts'
import { guards, type Rule, type Violation } from './violation.ts'
import { isAbandoned, photoOf, Words, type RoomLedger, type Told, type Word } from './words.ts'

export interface JudgeParts {
  setup: Setup
  clock: Clock
  /** How long the machine has slept, in ms. */
  sleptMs: () => number
  disks: readonly Disk[]
  pages: () => Page[]
  jobs: () => ReadonlyMap<string, Job>
  note: (line: string) => void
}

const consentMs = 600_000
const retentionMs = 86_400_000
/** How late a page that runs may be with what it does. */
const slackMs = 60_000
/** How far from the future a record may come. */
const futureMs = 300_000

/** The invariants of the promises, looked at with every view, every submission and every storage content. */
export class Judge implements Witness {
  readonly violations: Violation[] = []
  readonly words = new Words()
  readonly seen = { views: 0, submissions: 0 }
  private readonly parts: JudgeParts
  private readonly shelves = new Shelves(this.words)
  readonly leavings: Leavings
  /** Storages that every other storage can know of. */
  private readonly announced = new Set<Disk>()
  private readonly fresh = new Map<Told, Page>()
  /** What pages write as they are closed, and since when. */
  private readonly writing = new Map<Page, { since: number; learnt: Told[] }>()
  /** Which pages were told of each job, and when. */
  private readonly toldTo = new Map<Told, Map<Page, number>>()
  /** Views that a page has shown as the one that runs the try-on. */
  private readonly ownViews = new WeakSet<TryOnView>()
  private readonly shown = new WeakMap<
    object,
    { attempt: string; jobId: string | null; durable: boolean; leavings: number; isOwn: boolean }
  >()
  private readonly unsettledAttempts = new Set<string>()
  private readonly finished = new Set<string>()
  /** Counts what may make a view untrue that was true before. */
  private changes = 0
  private readonly looked = new WeakMap<
    object,
    { view: TryOnView; changes: number; hasWorked: boolean; hasCaughtUp: boolean }
  >()
  private readonly lastViews = new WeakMap<object, string>()
  private readonly unkept = new WeakMap<object, number>()
  /** Since when two pages are at two attempts of one try-on. */
  private readonly apart = new Map<string, number>()
  /** Without which discarded attempts a page has shown a try-on, and since when it shows one. */
  private readonly lookedFor = new WeakMap<object, { without: ReadonlySet<string>; since: number | null }>()
  /** Views that another page, which has read all storages, may have told. */
  private readonly told = new WeakSet<TryOnView>()
  private wallMoves = 0
  private clearedAt = -1
  private readonly atLoad = new WeakMap<Page, { wallMoves: number; announced: ReadonlySet<Disk> }>()

  constructor(parts: JudgeParts) {
    this.parts = parts
    this.leavings = new Leavings(this.words, parts.clock, parts.note)
  }

  deny(rule: Rule, why: string): void {
    if (this.violations.some((known) => known.rule === rule && known.why === why)) return
    this.parts.note(`  VIOLATION ${rule} ${guards[rule]}: ${why}`)
    this.violations.push({ rule, harm: guards[rule], why })
  }

  uncaught(error: unknown): void {
    this.deny(11, `uncaught: ${String(error).slice(0, 100)}`)
  }

  private get now(): number {
    return this.parts.clock.monotonic()
  }

  private saidOn = (page: Page) => ({ at: this.now, wall: page.anchoredWall, sleptMs: this.parts.sleptMs() })

  /** A new word of the shopper, maybe for a photo that an earlier one was for. */
  word(page: Page, variantId: string, photo: string | undefined): Word {
    const word = this.words.give(page.ledger, variantId, this.saidOn(page), page, photo)
    word.abandoned = this.leavings.isResetting(page.ledger)
    return word
  }

  /** The shopper has said something more about an attempt. */
  spoken(page: Page, attempt: string | undefined): void {
    const word = attempt === undefined ? undefined : this.words.ofAttempt.get(attempt)
    // an intent that waits for storage is for whatever is found there
    const meant = word ? [word] : attempt === undefined ? this.words.all.filter(({ room }) => room === page.ledger) : []
    for (const each of meant) Object.assign(each, this.saidOn(page))
  }

  loaded(page: Page): void {
    this.atLoad.set(page, { wallMoves: this.wallMoves, announced: new Set(this.announced) })
    for (const { room, told } of this.words.all) {
      if (room === page.ledger) for (const each of told.values()) each.excused ||= !isTrusted(each, page.loadedWall)
    }
  }

  wallMoved(): void {
    this.wallMoves++
  }

  /** The user has emptied storage: what only that held is nobody's fault, nor is what no catalog names any more. */
  cleared(): void {
    for (const each of [...this.words.all, ...this.words.visitors.values()]) each.isBlind = true
    this.announced.clear()
    this.clearedAt = this.now
    this.forgetFates()
  }

  /** What was left or discarded is told by what was emptied, and so is where jobs stand. */
  private forgetFates(): void {
    for (const word of this.words.all) {
      word.left = false
      word.room.discarded.clear()
    }
    for (const { told } of this.words.all) for (const each of told.values()) each.excused = true
    for (const attempt of this.words.ofAttempt.keys()) this.unsettledAttempts.add(attempt)
  }

  /** What no catalog names any more cannot be found to be wiped, nor listed; it is of a former shopper all the same. */
  listLost(): void {
    for (const each of [...this.words.all, ...this.words.visitors.values()]) each.isUnlisted = true
    this.forgetFates()
  }

  sent({ ledger, hasRead }: Page, request: Request, body: string): void {
    if (request.method !== 'POST') return
    const visitor = /"uniqueUserId":"([^"]+)"/.exec(body)?.[1]
    const known = visitor === undefined ? undefined : this.words.visitors.get(visitor)
    if (known && known.room !== ledger) this.deny(6, "a request carries another room's visitor")
    else if (known && known.shopper < ledger.floor && hasRead)
      this.deny(6, "a request carries a former shopper's visitor")
  }

  submitted(page: Page, body: string) {
    this.seen.submissions++
    const { imageUrl, variantId } = JSON.parse(body) as { imageUrl: string; variantId: string }
    const { shopper } = page.ledger
    const [word] = this.words.of(imageUrl, variantId)
    if (!word) this.deny(1, 'a submission without a word')
    this.parts.note(`  page ${page.slot}: POST for word ${word?.id}`)
    if (word) this.mayBeSent(page, word)
    if (word) word.unsure = true
    word?.goingOn.clear()
    return {
      refused: () => void (word && (word.unsure = false)),
      told: (jobId: string, visitor: string | null) => {
        if (visitor !== null && !this.words.visitors.has(visitor)) {
          this.words.visitors.set(visitor, { room: page.ledger, shopper, isBlind: false, isUnlisted: false })
        }
        const told: Told = { jobId, firm: false, excused: false, wall: page.anchoredWall }
        word?.told.set(jobId, told)
        this.fresh.set(told, page)
        this.toldTo.set(told, new Map([[page, this.now]]))
      },
    }
  }

  private mayBeSent(page: Page, word: Word): void {
    if (word.unsure) this.deny(1, 'a submission whose outcome is not a rejection was sent again')
    if (word.room !== page.ledger) return this.deny(5, "a submission for another room's word")
    if (word.shopper < page.ledger.floor && page.hasRead && page.hasWorked && !word.isBlind)
      this.deny(6, 'a submission for a former shopper')
    if (word.left) this.deny(2, 'a submission of what was left')
    if (word.unanswered) this.deny(2, 'a submission for a word that nobody has answered')
    if (this.words.isReplaced(word)) this.deny(2, 'a submission for a word before the last one')
    word.wasSent = true
    const isUnread = (disk: Disk, at: number) =>
      disk.holdsAttempts && this.couldKnow(page, disk) && !page.answered.has(at)
    if (word.at < page.loadedAt && page.disks.some(isUnread)) {
      this.deny(2, 'a submission by itself before every storage has answered')
    }
    const age = this.ageOf(word) - page.stalledMs
    const wallAge = Math.min(page.anchoredWall, page.wallNow()) - word.wall
    if (Math.min(age, wallAge) > consentMs + 2 * slackMs) this.deny(2, 'a submission by itself for an old consent')
  }

  /** How long ago a word was said, sleeps included. */
  private ageOf({ at, sleptMs }: Word): number {
    return this.now - at + this.parts.sleptMs() - sleptMs
  }

  saved(job: Job): void {
    this.changes++
    if (job.state === 'failed') this.finished.add(job.id)
  }

  /** Everything that needs no time has happened: what there is now has to be true. */
  settled(): void {
    for (const disk of this.parts.disks) this.changes += this.shelves.read(disk)
    for (const page of this.parts.pages()) if (page.runs) this.lookAt(page)
    this.lookAtPairs()
    for (const [told, page] of this.fresh) {
      if (page.runs && page.sound && this.parts.setup.slowMs === 0) told.firm = true
    }
    this.fresh.clear()
    for (const [told, pages] of this.toldTo) {
      for (const [page, at] of pages)
        if (page.prompt && this.now - at > noticeMs && this.canKeep(page, told)) told.firm = true
    }
    // what a storage that does not answer holds, nobody can take away
    const inTrouble = new Set(this.parts.pages().flatMap((page) => (page.hasWorked ? [] : page.disks)))
    const canBeTidy = ({ atomic, disks }: Page) => atomic && !disks.some((disk) => inTrouble.has(disk))
    for (const page of this.parts.pages().filter(canBeTidy)) {
      for (const [rule, why] of this.shelves.former(page)) this.deny(rule, why)
    }
  }

  /** Of two pages that say that they keep each other out, no two are at attempts of their own for longer than they take to notice. */
  private lookAtPairs(): void {
    const isJudged = (page: Page) => page.runs && page.reads && page.atomic && page.hasCaughtUp
    const pages = this.parts.pages().filter((page) => isJudged(page) && page.loadedAt >= this.clearedAt)
    for (const [at, one] of pages.entries()) {
      for (const other of pages.slice(at + 1)) {
        if (one.ledger !== other.ledger || one.ledger.isMute) continue
        for (const product of one.tryOns.keys()) this.lookAtPair(one, other, product)
      }
    }
  }

  private lookAtPair(one: Page, other: Page, product: number): void {
    const views = [one, other].map(({ tryOns }) => tryOns.get(product)?.get())
    const [mine, theirs] = views.map((view) => view?.attempt?.id)
    const isApart =
      views.every((view) => view?.exclusive) && mine !== undefined && theirs !== undefined && mine !== theirs
    const key = JSON.stringify([one, other].map(({ slot, loadedAt }) => [slot, loadedAt, product]))
    const since = this.apart.get(key) ?? this.now
    if (!isApart) this.apart.delete(key)
    else this.apart.set(key, since)
    if (isApart && this.now - since > 2 * noticeMs)
      this.deny(12, 'two pages that keep each other out are at two attempts')
  }

  /** What a page knows of, and could not write before, it can as it is closed. */
  closing(page: Page, livesOn = false): void {
    const isQuick = this.parts.setup.slowMs === 0
    if (!page.runs || !page.works || !page.prompt || !(isQuick || livesOn)) return
    const learnt = [...this.toldTo].flatMap(([told, pages]) =>
      pages.has(page) && !told.firm && !this.isKeptFrom(page) ? [told] : [],
    )
    for (const told of learnt) told.firm = true
    if (!isQuick) this.writing.set(page, { since: this.now, learnt })
  }

  /** A page that was closed a moment ago ends in the middle of what it writes. */
  ending(page: Page): void {
    const { since, learnt } = this.writing.get(page) ?? { since: -Infinity, learnt: [] }
    if (this.now - since < noticeMs) for (const told of learnt) told.firm = false
  }

  private lookAt(page: Page): void {
    const views = [...page.tryOns].map(([product, tryOn]) => ({
      product,
      tryOn,
      view: tryOn.get() as TryOnView | undefined,
    }))
    const isRead = views.every(({ view }) => view?.state !== 'restoring')
    if (page.sound && isRead && page.loadedAt > this.clearedAt) for (const disk of page.disks) this.announced.add(disk)
    for (const { product, tryOn, view } of views) {
      if (!view) this.deny(11, 'a page without a view')
      else {
        this.lookAtView(page, product, tryOn, view)
        this.lookForDiscarded(page, tryOn, view)
      }
    }
    const photo = page.room.photo.get()?.imageUrl ?? ''
    for (const word of this.words.in(photo)) this.belongs(page, word, 'the photo')
    const visitor = this.words.visitors.get(page.room.visitor.get().uniqueUserId ?? '')
    if (visitor) this.belongs(page, visitor, 'the visitor')
  }

  private belongs(
    { ledger, hasRead, hasWorked, hasCaughtUp }: Page,
    { room, shopper, isBlind }: { room: RoomLedger; shopper: number; isBlind?: boolean },
    what: string,
  ): void {
    if (room !== ledger) this.deny(5, `${what} is of another room`)
    else if (shopper < ledger.floor && hasRead && hasWorked && hasCaughtUp && isBlind !== true)
      this.deny(6, `${what} is of a former shopper`)
  }

  private lookAtView(page: Page, product: number, tryOn: object, view: TryOnView): void {
    const known = this.looked.get(tryOn)
    const { hasWorked, hasCaughtUp } = page
    const changes = this.changes + this.leavings.changes
    const isSame = known?.view === view && known.changes === changes
    if (isSame && known.hasWorked === hasWorked && known.hasCaughtUp === hasCaughtUp) return
    if (known?.view !== view && page.isOwner) this.ownViews.add(view)
    this.looked.set(tryOn, { view, changes, hasWorked, hasCaughtUp })
    this.noteView(page, product, tryOn, view)
    const { attempt, state } = view
    const byAttempt = attempt ? this.words.ofAttempt.get(attempt.id) : undefined
    const isLeft = attempt !== null && (this.leavings.isLeaving(page.ledger, attempt.id) || !page.hasWorked)
    // pages from before the user has emptied storage may run what another one has begun since
    const isSplit = this.parts.pages().some(({ loadedAt }) => loadedAt < this.clearedAt)
    const { isMute } = page.ledger
    const own = isSplit || isMute ? undefined : byAttempt
    for (const why of isLeft ? [] : truthOf(view, this.parts.jobs(), this.parts.clock.now(), own, this.words))
      this.deny(5, why)
    const job = this.parts.jobs().get(attempt?.jobId ?? '')
    const word = byAttempt ?? (job && this.words.of(photoOf(job), job.variantId)[0])
    if (word) this.belongs(page, word, 'the view')
    if (state === 'final' && attempt.jobId) this.finished.add(attempt.jobId)
    // what has gone on elsewhere is shown as it was
    if (isMute) return
    const told = this.words.ofJob(attempt?.jobId ?? '')?.told
    const pages = told && this.toldTo.get(told)
    if (pages && !pages.has(page)) pages.set(page, this.now)
    if (state !== 'restoring') this.lookBack(page, tryOn, view)
    this.lookAtStorage(page, tryOn, view)
  }

  /** What is discarded on one page another that runs may show a moment longer, and nobody anew. */
  private lookForDiscarded({ ledger, hasWorked, runsSince }: Page, tryOn: object, { attempt, state }: TryOnView): void {
    const { discarded, isMute } = ledger
    if (state === 'restoring' || !hasWorked || isMute) return
    const at = discarded.get(attempt?.id ?? '')
    if (!attempt || at === undefined) {
      this.lookedFor.set(tryOn, { without: new Set(discarded.keys()), since: null })
      return
    }
    const { without = new Set<string>(), since } = this.lookedFor.get(tryOn) ?? {}
    this.lookedFor.set(tryOn, { without, since: since ?? this.now })
    if (without.has(attempt.id) || runsSince > at || this.now - (since ?? this.now) > noticeMs)
      this.deny(7, 'a discarded attempt is shown again')
  }

  private noteView({ slot }: Page, product: number, tryOn: object, view: TryOnView): void {
    const attempt = view.attempt ? ` attempt ${view.attempt.id.slice(0, 4)} job ${view.attempt.jobId?.slice(0, 4)}` : ''
    const shown = `${view.state}${view.durable ? '' : ' (not durable)'}${attempt} ${view.problem?.kind ?? ''}`
    if (this.lastViews.get(tryOn) === shown) return
    this.lastViews.set(tryOn, shown)
    this.seen.views++
    this.parts.note(`    page ${slot} product ${product}: ${shown}`)
  }

  /** Nothing that was shown goes away by itself. */
  private lookBack(page: Page, tryOn: object, view: TryOnView): void {
    const { attempt, state, problem, durable } = view
    const { leavings } = page.ledger
    const before = this.shown.get(tryOn)
    const isOwn = this.ownViews.has(view)
    if (attempt) this.shown.set(tryOn, { attempt: attempt.id, jobId: attempt.jobId, durable, leavings, isOwn })
    else this.shown.delete(tryOn)
    const isForgotten = isOwn && before?.isOwn && before.attempt === attempt?.id && before.jobId && !attempt.jobId
    if (isForgotten && before.leavings === leavings && !this.words.ofJob(before.jobId ?? '')?.told.excused)
      this.deny(3, `a known job is forgotten: ${state}`)
    if (
      !before ||
      before.leavings !== leavings ||
      before.attempt === attempt?.id ||
      this.leavings.isLeaving(page.ledger)
    )
      return
    const word = this.words.ofAttempt.get(before.attempt)
    if (word && (word.left || word.mayBeLeft || isAbandoned(word))) return
    if (this.unsettledAttempts.has(before.attempt)) return
    // a page that was loaded when the wall clock stood elsewhere may have swept it
    if (this.parts.pages().some((each) => each !== page && this.isOutOfDate(before.attempt, each.anchoredWall))) return
    // a word that was too old when its page looked again is asked for again
    if (word && problem?.kind === 'consentExpired' && this.ageOf(word) > consentMs - slackMs) return
    // the core's clock begins as it is loaded: what was said by one that stood further ahead is of no known age
    const isAhead = word && word.givenWall - page.wallNow() > futureMs - slackMs
    if (isAhead && this.parts.setup.front === 'door' && problem?.kind === 'consentExpired') return
    // another word, given where this one could not be read, may go before it; the job is still owed
    if (word && this.words.ofAttempt.has(attempt?.id ?? '')) return
    // another page may have left it, which this one could not read
    if (!page.hasWorked && !this.isAlone(page)) return
    // a page that cannot read says so, and others show what it says
    const isRoom = (each: Page) => each.ledger === page.ledger
    if (problem?.kind === 'storageUnreadable' && this.parts.pages().some((each) => isRoom(each) && !each.hasWorked))
      return
    const gave = `${state}${problem ? ` (${problem.kind})` : ''}`
    const isWallMoved = this.atLoad.get(page)?.wallMoves !== this.wallMoves
    // where nobody is kept out a page shows nothing of what another one prepares
    const { storage, locks } = this.parts.setup
    if (!before.jobId && storage === 'plain' && !locks) return
    // what another page held in memory alone goes with that page
    if (!before.durable && this.parts.pages().length > 1) return
    if (isWallMoved) this.deny(9, `the wall clock makes an attempt ${gave}`)
    else if (before.jobId && !this.words.ofJob(before.jobId)?.told.excused)
      this.deny(3, `a known job gives way to ${gave}`)
    else if (!before.jobId && before.durable && word && !word.unanswered && state === 'idle' && problem === null)
      this.deny(5, 'a consent goes by itself')
  }

  /** Whether a page has read every storage, or can know of the ones that it has not. */
  knowsAll(page: Page): boolean {
    return page.disks.every((disk, at) => page.answered.has(at) || this.couldKnow(page, disk))
  }

  /** Another storage could tell the page, when it was loaded, that this one may hold something. */
  private couldKnow(page: Page, disk: Disk): boolean {
    return this.announced.has(disk) && this.atLoad.get(page)?.announced.has(disk) === true
  }

  private lookAtStorage(page: Page, tryOn: object, view: TryOnView): void {
    const { state, problem, attempt, durable } = view
    const isUnread = (disk: Disk, at: number) => {
      return this.shelves.holdsOwn(disk, page.ledger) && this.couldKnow(page, disk) && !page.answered.has(at)
    }
    const isTold = this.parts
      .pages()
      .some((each) => each !== page && each.ledger === page.ledger && each.runs && each.hasRead)
    if (isTold) this.told.add(view)
    if (state === 'idle' && problem === null && !this.told.has(view) && page.disks.some(isUnread)) {
      this.deny(4, 'idle without a word of the storage that could not be read')
    }
    if (!durable || !attempt || this.leavings.isLeaving(page.ledger) || this.unsettledAttempts.has(attempt.id)) return
    if (this.hasExpired(page, attempt.id)) return
    const texts = page.disks.flatMap(({ texts }) => texts)
    const kept = texts.some((text) => text.includes(attempt.id) && text.includes(attempt.jobId ?? ''))
    this.lookForKept(page, tryOn, kept, state)
    const told = attempt.jobId === null ? undefined : this.words.ofJob(attempt.jobId)?.told
    if (kept && told) told.firm = true
  }

  /** What is past its retention, by some page's clock, may have been swept. */
  private hasExpired(page: Page, attempt: string): boolean {
    const walls = [page, ...this.parts.pages()].map((each) => Math.max(each.anchoredWall, each.wallNow()))
    return this.isOutOfDate(attempt, Math.max(...walls))
  }

  private isOutOfDate(attempt: string, wall: number): boolean {
    const word = this.words.ofAttempt.get(attempt)
    // a page that was loaded before the wall clock moved writes by its own clock
    const written = Math.min(word?.givenWall ?? Infinity, ...this.parts.pages().map((page) => page.anchoredWall))
    return word !== undefined && wall - written > retentionMs - slackMs
  }

  /** Whether no other page of the room runs, nor, where that is asked, finishes what it had begun as it was closed. */
  private isAlone(page: Page, isQuiet = false): boolean {
    const others = this.parts.pages().filter((each) => each !== page && each.ledger === page.ledger)
    return !others.some((each) => each.runs || (isQuiet && each.closed && !each.killed))
  }

  /** Whether a page that shows a job can write it. */
  private canKeep(page: Page, { jobId }: Told): boolean {
    const isShown = () => [...page.tryOns.values()].some((tryOn) => tryOn.get().attempt?.jobId === jobId)
    return page.runs && page.hasWorked && !this.isKeptFrom(page) && isShown()
  }

  /** Whether another page may run the try-on that can write nothing: what it has this one writes as it takes over, and not before. */
  private isKeptFrom(page: Page): boolean {
    const others = this.parts.pages().filter((each) => each !== page && each.ledger === page.ledger)
    return others.some((each) => !each.killed && !each.hasWorked)
  }

  /** What another page has done a page may see a moment late, and not at all where it cannot read. */
  private lookForKept(page: Page, tryOn: object, isKept: boolean, state: string): void {
    const since = this.unkept.get(tryOn) ?? this.now
    if (isKept) this.unkept.delete(tryOn)
    else this.unkept.set(tryOn, since)
    const isAlone = this.isAlone(page, true)
    const isLate = this.now - since > noticeMs
    if (!isKept && (page.hasWorked ? isAlone || isLate : isAlone && isLate))
      this.deny(8, `durable, but not kept: ${state}`)
  }

  /** Whether a picture that comes of what is asked for now is of what was left, or of who has gone, by then. */
  asked({ ledger }: Page): (imageUrl: string) => boolean {
    const isKnown = this.parts.pages().every((page) => page.hasWorked) && !this.leavings.isLeaving(ledger)
    const isGone = (word: Word) => word.left || word.shopper < ledger.floor || word.room !== ledger
    const gone = new Set(this.words.all.filter(isGone))
    const ofPicture = (imageUrl: string) =>
      [...this.parts.jobs().values()].find(({ pictures }) => pictures && imageUrl.endsWith(`/${pictures.final}`))
    return (imageUrl) => {
      const word = this.words.ofJob(ofPicture(imageUrl)?.id ?? '')?.word
      return isKnown && word !== undefined && gone.has(word)
    }
  }

  /** All works again: what pages do not show yet of what there is. */
  unsettled(): [Rule, string][] {
    const found: [Rule, string][] = []
    for (const page of this.parts.pages().filter((each) => each.runs && each.hasWorked && !each.ledger.isMute))
      for (const tryOn of page.tryOns.values()) {
        const { attempt, state } = tryOn.get()
        if (state === 'restoring') found.push([11, 'a card waits for ever'])
        if (attempt && attempt.jobId === null && this.shelves.hasJob(page, attempt.id))
          found.push([5, 'a job that storage has is not shown'])
      }
    return found
  }

  /** The jobs that a fresh page has to reach. */
  owed(room: string, wall: number): { word: Word; jobId: string }[] {
    // what was begun where a reset() that came half-way could not be seen may go with it
    const mayBeWiped = ({ room: of, isBlind }: Word) => of.isHalfReset && isBlind
    const all = this.words.all.filter((word) => word.room.name === room && !isAbandoned(word) && !mayBeWiped(word))
    return all.flatMap((word) =>
      [...word.told].flatMap(([jobId, told]) =>
        told.firm && !told.excused && isTrusted(told, wall) ? [{ word, jobId }] : [],
      ),
    )
  }

  /** A month later, and after two openings, nothing is left but jobs that were never seen to end. */
  monthPassed(room: RoomLedger, disks: readonly Disk[]): void {
    if (this.wallMoves > 0) return
    const isOpen = (word: Word) => [...word.told.keys()].some((jobId) => !this.finished.has(jobId))
    for (const disk of disks) for (const why of this.shelves.overdue(disk, room, isOpen)) this.deny(10, why)
  }
}

/** A record is trusted until it has expired, and not when it comes from the future. */
function isTrusted({ wall }: Told, now: number): boolean {
  return now - wall < retentionMs - slackMs && now - wall > slackMs - futureMs
}
