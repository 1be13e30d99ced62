import type { StoredPhoto } from '../../src/ports.ts'
import type { Problem } from '../../src/rules/problem.ts'
import type { AttemptView, TryOnResult } from '../../src/rules/view.ts'
import type { TryOnState } from '../../src/rules/words.ts'

/** What is asked for, as it is kept. */
export interface Order {
  productId: string
  variantId: string
  funnelIds: readonly number[]
  /** The photo's URL, or the hash of its bytes. */
  photo: { imageUrl: string } | { hash: string }
  /** As it was given; null where it has a random one. */
  uniqueUserId: string | null
}

/** What has become of one try-on. */
export interface RunnerEntry {
  /** The one that it was added under. */
  id: string
  state: TryOnState
  /** True once nothing continues by itself: there is a picture, or a `problem` that somebody has to look at. */
  isEnded: boolean
  attempt: AttemptView | null
  result: TryOnResult | null
  problem: Problem | null
  /** The merchant's text: render it as text. */
  message: string | null
}

/** What an entry says beside where it stands. */
export type Told = Pick<RunnerEntry, 'attempt' | 'result' | 'problem' | 'message'>

/** One consent of one try-on: what it writes counts for as long as it stands. */
export interface Consent {
  id: string
  /** A UUID, and another one for each `add` and `retry`. */
  consent: string
}

/** Why one that has ended is left: for another submission, or to be forgotten, which nothing takes back. */
export type Leaving = 'retry' | 'discard'

/** One try-on as the processes share it. */
export interface Item extends RunnerEntry, Consent {
  order: Order
  /** The shopper that it is for. */
  visitor: string
  /** Under what its record is: the UUID of the consent to its submission. */
  namespace: string
  /** What its record says counts no more: it is removed, by whoever comes to it. Null where it counts. */
  leftFor: Leaving | null
  /** The base URL that its submission may have gone to; null where it was not begun. */
  begunAt: string | null
}

/** An entry with when it came to that, in epoch ms of the database's clock. */
interface Change {
  entry: RunnerEntry
  changedAt: number
}

export interface Items {
  /** Whether it was not there before. */
  add(consent: Consent, order: Order, visitor: string, photo: StoredPhoto | null): Promise<boolean>
  read(id: string): Promise<Item | null>
  all(): Promise<RunnerEntry[]>
  isAnyOpen(): Promise<boolean>
  /** Whether that consent is still to be carried out. */
  stands(consent: Consent): Promise<boolean>
  /** Marks where the submission of a consent goes to, if nowhere else by now, and tells where; null where it stands no more, or has a job. */
  begin(consent: Consent, baseUrl: string): Promise<string | null>
  /** Whether its record is still somebody's. */
  isNamed(item: Pick<Item, 'id' | 'namespace'>): Promise<boolean>
  /** Consents of which it is not written that they are in the queue, though they were given a while ago. */
  unqueued(): Promise<Consent[]>
  queued(consent: Consent): Promise<void>
  /**
   * Writes down what one has come to; nothing where that consent stands no more, and nothing that knows less of its job. One
   * that ended with an outcome that nobody knew takes what is learnt late: its job, and its end.
   */
  save(consent: Consent, to: Omit<RunnerEntry, 'id'>): Promise<void>
  /** Writes down that it has a job, before anything else is told of that; false where it is at another attempt by now, or gone. */
  learn(consent: Consent, attempt: AttemptView & { jobId: string }): Promise<boolean>
  /** Puts consents to go on in the place of those whose job was learnt late. */
  goOnLate(): Promise<void>
  /** From then on what has ended does not go on; false where that, or what is told of it, is another one by now, or is to be forgotten. */
  leave(ended: Item, what: Leaving): Promise<boolean>
  /**
   * Puts a consent, to a submission of its own, in the place of one that was left for it; false where it is not by now, or has
   * a job since.
   */
  again(left: Item, next: Consent): Promise<boolean>
  /** Puts a consent to go on in the place of one that has ended; false where that is to be forgotten, or is another one by now. */
  goOn(ended: Consent, next: Consent): Promise<boolean>
  /** Removes one that was left to be forgotten, with its photo; false where it is not by now. */
  remove(left: Consent): Promise<boolean>
  /** Removes that photo, or all, where no item names it: two that shared it, and were removed at once, have each left it to the other. */
  sweep(hash?: string): Promise<void>
  /** What has changed since then, in epoch ms of the database's clock, or within the last moments before. */
  changedSince(at: number): Promise<Change[]>
  now(): Promise<number>
  /** Where a photo is, or its bytes where it was not uploaded lately. */
  photo(hash: string): Promise<StoredPhoto | { imageUrl: string } | null>
  /** Where it is by now; null where it has to be uploaded again. */
  uploaded(hash: string, imageUrl: string | null): Promise<void>
}
