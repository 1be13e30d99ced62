import type { Job } from '@fitting-room/service'

/** What came of a job ID that a page has read. */
export interface Told {
  jobId: string
  /** A page has had it where storage worked, or has shown it as durable. */
  firm: boolean
  /** Storage was emptied since, or the wall clock has left the time in which a record is trusted. */
  excused: boolean
  wall: number
}

/** One word of the shopper: a start or retry, which permits one submission. */
export interface Word {
  id: number
  room: RoomLedger
  /** Which shopper of the room: the number of resets asked for before it. */
  shopper: number
  photo: string
  variantId: string
  /** When the shopper last said something about it, on the machine's monotonic clock and on the wall. */
  at: number
  wall: number
  /** How long the machine had slept by then. */
  sleptMs: number
  /** The wall clock of its page when it was given. */
  givenWall: number
  /** A part of storage was emptied since: a reset() elsewhere cannot know of it. */
  isBlind: boolean
  /** The list that named it was lost since: nobody finds it to wipe it before it is looked at. */
  isUnlisted: boolean
  /** A submission is out, or was answered by nothing that is definite. */
  unsure: boolean
  /** The shopper has said that it may be forgotten. */
  abandoned: boolean
  /** What has been said that may be for it, and forgets what it is for. */
  discards: Set<unknown>
  /** The shopper has left or discarded it: nothing is submitted for it any more. */
  left: boolean
  /** A page that was to leave it stopped in the middle. */
  mayBeLeft: boolean
  /** Its shopper was told that nobody answered, or that the page let go of it. */
  unanswered: boolean
  /** What was said since its last submission to go on with it, and may be carried out. */
  goingOn: Set<object>
  /** The attempt that was shown when it was given, or null for none; undefined where nobody knew yet. */
  over: string | null | undefined
  /** Settles as the intent does. */
  settling: Promise<void>
  /** It was rejected. */
  isOver: boolean
  /** It was rejected before it has changed anything. */
  isRefused: boolean
  /** The page that it was given on, and whether that could read and write what there was. */
  page: object
  isFirm: boolean
  /** Whether anything was sent for it. */
  wasSent: boolean
  told: Map<string, Told>
}

/** An intent after which another attempt, or none, may be shown; a page that was killed may still have passed it on. */
interface Leaving {
  page: { readonly killed: boolean }
  at: number
  attempt: string | null
  isReset: boolean
}

/** What the world knows of a room, over all its pages: its shoppers one after the other. */
export interface RoomLedger {
  name: string
  /** Resets asked for so far. */
  shopper: number
  /** Nothing of a shopper before this one may be anywhere: that many resets have been asked for when the last one resolved. */
  floor: number
  /** A reset was asked for that could not wipe everything. */
  isHalfReset: boolean
  /** Its pages do not hear each other, and may show what has gone on without them. */
  isMute: boolean
  /** How often the shopper has left, replaced or wiped something. */
  leavings: number
  /** What the shopper is about to leave, replace or wipe. */
  leaving: Set<Leaving>
  /** Attempts, and when each was discarded. */
  discarded: Map<string, number>
}

export interface Visitor {
  room: RoomLedger
  shopper: number
  isBlind: boolean
  isUnlisted: boolean
}

/** All words, by the photos and attempts that show them. */
export class Words {
  readonly all: Word[] = []
  readonly ofAttempt = new Map<string, Word>()
  readonly visitors = new Map<string, Visitor>()

  give(
    room: RoomLedger,
    variantId: string,
    said: Pick<Word, 'at' | 'wall' | 'sleptMs'>,
    page: { readonly works: boolean },
    photo?: string,
  ): Word {
    const id = this.all.length
    const made: Word = {
      id,
      room,
      shopper: room.shopper,
      photo: photo ?? `word-${id}-`,
      variantId,
      ...said,
      givenWall: said.wall,
      isBlind: false,
      isUnlisted: false,
      unsure: false,
      abandoned: false,
      discards: new Set(),
      left: false,
      mayBeLeft: false,
      unanswered: false,
      goingOn: new Set(),
      over: undefined,
      settling: Promise.resolve(),
      isOver: false,
      isRefused: false,
      page,
      isFirm: page.works,
      wasSent: false,
      told: new Map(),
    }
    this.all.push(made)
    return made
  }

  /** A word that was refused permits nothing. */
  retract(word: Word): void {
    Object.assign(word, { left: true, abandoned: true })
  }

  /** Every word that a text names. */
  in(text: string): Word[] {
    return [...text.matchAll(/word-(\d+)(?=\D)/g)].flatMap(([, id]) => this.all[Number(id)] ?? [])
  }

  /** An attempt is shown for a word, unless storage knows better. */
  show(attempt: string, word: Word): void {
    if (!this.ofAttempt.has(attempt)) this.ofAttempt.set(attempt, word)
  }

  /** The words that a submission of this photo for this variant may be for: the ones that were not used up first. */
  of(imageUrl: string, variantId: string): Word[] {
    const named = /word-\d+-/.exec(imageUrl)?.[0]
    const found = this.all.filter((word) => word.photo === named && word.variantId === variantId)
    const spent = ({ unsure, left, unanswered }: Word) => Number(unsure) + Number(left) + Number(unanswered)
    return found.sort((a, b) => spent(a) - spent(b) || b.at - a.at || b.id - a.id)
  }

  /**
   * Whether something was sent for a word that was given later on the same page for the same product; one that was given
   * where storage failed could not replace what it did not know of.
   */
  isReplaced({ id, page, photo, variantId }: Word): boolean {
    const later = this.all.filter((each) => each.id > id && each.wasSent && each.isFirm && each.page === page)
    // of two words for one photo nobody can tell which a submission is for
    return later.some((each) => each.variantId === variantId && each.photo !== photo)
  }

  /** The words that a job of this one may be of: for the same photo and variant. */
  like({ photo, variantId }: Word): Word[] {
    return this.all.filter((word) => word.photo === photo && word.variantId === variantId)
  }

  /** What was said on that page for that product so far, and is not rejected, and nothing was sent for yet. */
  unsentOn(at: object, variantId: string): Word[] {
    const isUnsent = ({ page, isOver, left, wasSent }: Word) => page === at && !isOver && !left && !wasSent
    return this.all.filter((word) => word.variantId === variantId && isUnsent(word))
  }

  ofJob(jobId: string): { word: Word; told: Told } | null {
    for (const word of this.all) {
      const told = word.told.get(jobId)
      if (told) return { word, told }
    }
    return null
  }

  /** Learns from a stored value which attempt is of which word. */
  read(text: string): void {
    const [attempt, ...others] = new Set([...text.matchAll(/"attemptId":"([^"]+)"/g)].map(([, id]) => id))
    const key = /"customKey":"word-(\d+)-?"/.exec(text)?.[1]
    const word = key === undefined ? undefined : this.all[Number(key)]
    if (attempt && word && others.length === 0) this.ofAttempt.set(attempt, word)
  }
}

export const isAbandoned = ({ abandoned, discards }: Word): boolean => abandoned || discards.size > 0

/** The name or the address of the photo that a job is made of. */
export const photoOf = ({ photo }: Job): string => ('url' in photo ? photo.url : photo.name)
