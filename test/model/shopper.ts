import { TryOnError, type Clock } from 'fitting-room'
import type { Judge } from './judge.ts'
import { photoBytes } from './network.ts'
import type { Photo } from './operations.ts'
import { baseUrl, productAt, type Page } from './page.ts'
import { onHost } from './platform.ts'

/** A photo whose bytes are at hand, so that reading it takes no turn of the event loop, or comes out of a cloud. */
class PhotoFile extends Blob {
  private readonly content: Uint8Array<ArrayBuffer>
  private readonly clock: Clock
  private readonly readMs: number
  constructor(content: Uint8Array<ArrayBuffer>, clock: Clock, readMs: number) {
    super([content], { type: 'image/png' })
    this.content = content
    this.clock = clock
    this.readMs = readMs
  }
  override async arrayBuffer(): Promise<ArrayBuffer> {
    if (this.readMs > 0) await new Promise<void>((resolve) => void this.clock.setTimeout(resolve, this.readMs))
    return this.content.slice().buffer
  }
}

/** An intent that has not settled. */
interface Pending {
  page: Page
  what: string
}

/** What shoppers say to pages, and what the judge has to know of it. */
export class Shopper {
  readonly pending = new Set<Pending>()
  private readonly judge: Judge
  private readonly clock: Clock
  private readonly note: (line: string) => void

  constructor(judge: Judge, clock: Clock, note: (line: string) => void) {
    this.judge = judge
    this.clock = clock
    this.note = note
  }

  /** The shopper's intent on a page; what comes of it is heard later. */
  hear(
    page: Page,
    what: string,
    work: () => Promise<void>,
    onRefused = (_kind: string, _reason: string) => {},
  ): Promise<boolean> {
    const pending: Pending = { page, what }
    this.pending.add(pending)
    const done = onHost(page, async () => work()).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof TryOnError)) this.judge.uncaught(error)
        else this.note(`  ${what} on page ${page.slot}: ${error.problem.kind}`)
        if (error instanceof TryOnError) onRefused(error.kind, 'reason' in error.problem ? error.problem.reason : '')
        return false
      },
    )
    void done.then(() => this.pending.delete(pending))
    return done
  }

  give(intent: 'start' | 'retry', page: Page, kind: Photo, fails: boolean, product: number): void {
    const tryOn = page.tryOn(product)
    const shown = page.room.photo.get()?.imageUrl
    const again = kind === 'again' && shown ? /word-\d+-/.exec(shown)?.[0] : undefined
    if (kind === 'again' && again === undefined) return
    const word = this.judge.word(page, productAt(product).variantId, again)
    const before = tryOn.get().attempt?.id
    word.over = before ?? (tryOn.get().state === 'restoring' ? undefined : null)
    const readMs = kind === 'slow' ? 8_000 : 0
    const file = () => new PhotoFile(photoBytes(word.id, fails), this.clock, readMs)
    const url = { imageUrl: `${baseUrl}/photos/word-${word.id}-${fails ? 'bad' : 'good'}.png` }
    const photo = again !== undefined ? undefined : kind === 'url' ? url : file()
    // what was said before it, and is not done yet, may come after it; a page that was away may not know its shopper yet
    const isAlone = page.ledger.leaving.size === 0 && page.hasCaughtUp
    const leaving = this.judge.leavings.leaving(page, before ?? null)
    const { leavings } = page.ledger
    // of two words for one photo a submission tells nobody apart
    const retract = (kind: string, reason: string) => {
      word.isOver = true
      word.isRefused = kind === 'notAllowed' || reason === 'unanswered' || reason === 'closed'
      if (kind === 'notAllowed' && again !== undefined) this.judge.words.retract(word)
      // a page that stood still, or was closed, has let go of the try-on
      if (reason === 'unanswered' || reason === 'closed') word.unanswered = true
      const isUntouched = page.ledger.leavings === leavings && isAlone
      if (reason === 'startedOver' && isUntouched && page.works)
        this.judge.deny(5, `word ${word.id} is called started over, and nobody has left it`)
      // what was to be replaced may be left already
      if (before !== undefined && (kind === 'storage' || kind === 'stopped')) leaving.untold()
    }
    const carryOut = () => tryOn[intent](photo, { customKey: `word-${word.id}` })
    word.settling = this.hear(page, intent, carryOut, retract).then((done) => {
      const { attempt } = tryOn.get()
      if (done && attempt && attempt.id !== before) this.judge.words.show(attempt.id, word)
      leaving.over(done)
    })
  }

  say(intent: 'resume' | 'submitEmail' | 'startOver' | 'discard', page: Page): void {
    const tryOn = page.tryOn(0)
    const attempt = tryOn.get().attempt?.id
    if (intent === 'resume' || intent === 'submitEmail') {
      this.judge.spoken(page, attempt)
      const work = () => (intent === 'resume' ? tryOn.resume() : tryOn.submitEmail({ email: 'ada@example.com' }))
      const word = this.judge.words.ofAttempt.get(attempt ?? '')
      if (word) word.unanswered = false
      // elsewhere it is no word for what waits there, which may go on by itself
      const isWord = tryOn.get().state === (intent === 'submitEmail' ? 'needsEmail' : 'stalled')
      const said = {}
      word?.goingOn.add(said)
      void this.hear(page, intent, work, (_, reason) => {
        word?.goingOn.delete(said)
        const isLetGo = isWord && (reason === 'unanswered' || reason === 'closed')
        // the same may have been said on another page, too
        if (word && isLetGo && word.goingOn.size === 0) word.unanswered = true
      })
      return
    }
    const leaving = this.judge.leavings.leaving(page, attempt ?? null)
    const unsent = this.judge.words.unsentOn(page, productAt(0).variantId)
    const works = page.works
    // what is still made ready stands in nothing's place, and nothing but it is forgotten unseen
    const isOfNone = attempt === undefined && tryOn.get().state !== 'restoring'
    // it is for what was begun by the word before it, which may have a job by then
    const isOver = (shown: string | undefined) => unsent.some((each) => !each.isRefused && each.over === shown)
    const isOfUnsent = () => (attempt === undefined ? unsent.some((each) => !each.isRefused) : isOver(attempt))
    if (intent === 'discard') for (const each of unsent) each.abandoned = true
    const keep = intent === 'discard' && !isOfNone ? leaving.discarding() : () => {}
    const work = () => (intent === 'discard' ? tryOn.discard({ abandonPaidJob: true }) : tryOn.startOver())
    // a page that stopped in the middle cannot say whether it was done, and what storage refuses may be done later
    const onRefused = (kind: string) => void ((kind === 'stopped' || kind === 'storage') && leaving.untold())
    void this.hear(page, intent, work, onRefused).then(async (done) => {
      leaving.over(done)
      if (done) for (const each of unsent) each.left ||= !each.wasSent
      // which of them were consents at all
      await Promise.all(unsent.map(({ settling }) => settling))
      // it may be for what the consent has taken the place of, or for that alone
      if (isOver(undefined)) return
      if (done && isOfUnsent()) {
        // what stood there before goes to the archive
        for (const each of this.judge.words.all) each.mayBeLeft ||= each.room === page.ledger
        return keep()
      }
      // a page that was closed by then tells no other one
      if (page.closed) leaving.untold()
      else if (done && intent === 'discard' && works && page.works) leaving.discarded()
    })
  }

  /** Asks a page that was put away or left for the picture. */
  ask(page: Page): void {
    const isOld = this.judge.asked(page)
    page.ask()?.then(
      ({ imageUrl }) => isOld(imageUrl) && this.judge.deny(5, 'the result is what was there before'),
      (error: unknown) => void (error instanceof TryOnError || this.judge.uncaught(error)),
    )
  }

  /** Looks what there is, which the page may not be able to say. */
  list(page: Page): void {
    void this.hear(page, 'list', async () => void (await page.room.list()))
  }

  reset(page: Page): void {
    const resetting = this.judge.leavings.resetting(page, () => this.judge.knowsAll(page))
    void this.hear(page, 'reset', () => page.room.reset()).then((done) =>
      done ? resetting.done() : resetting.failed(),
    )
  }
}
