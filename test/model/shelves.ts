import type { Disk } from './disk.ts'
import { wordOfBytes } from './network.ts'
import type { Page } from './page.ts'
import type { RoomLedger, Visitor, Word, Words } from './words.ts'

/** One stored value, and whom it names. */
interface Shelf {
  text: string
  words: Word[]
  visitors: string[]
}

/** What the disks hold, read anew only where it has changed. */
export class Shelves {
  private readonly words: Words
  private readonly disks = new Map<Disk, Map<string, Shelf>>()

  constructor(words: Words) {
    this.words = words
  }

  on(disk: Disk): Shelf[] {
    return [...(this.disks.get(disk)?.values() ?? [])]
  }

  /** How much has changed on a disk since it was last read. */
  read(disk: Disk): number {
    const known = this.disks.get(disk) ?? new Map<string, Shelf>()
    this.disks.set(disk, known)
    let changes = 0
    for (const key of known.keys()) if (!disk.values.has(key) && known.delete(key)) changes++
    for (const [key, text] of disk.values) {
      if (known.get(key)?.text === text) continue
      changes++
      this.words.read(text)
      const visitors = [...this.words.visitors.keys()].filter((id) => text.includes(id))
      known.set(key, { text, words: this.words.in(`${text} `), visitors })
    }
    return changes
  }

  /** Whose photos wait on a disk. */
  private photosOn(disk: Disk): (Word | undefined)[] {
    return [...disk.photos.values()].map(({ bytes }) => this.words.all[wordOfBytes(bytes)])
  }

  /** Whether a disk holds anything of the room's present shopper. */
  holdsOwn(disk: Disk, ledger: RoomLedger): boolean {
    return this.on(disk).some(({ words }) => words.some((word) => word.room === ledger && !isFormer(word, ledger)))
  }

  /** Whether a page's disks know the job of an attempt. */
  hasJob({ disks }: Page, attempt: string): boolean {
    const isOf = ({ text }: Shelf) => text.includes(`"attemptId":"${attempt}"`) && text.includes('"jobId":"')
    return disks.some((disk) => this.on(disk).some(isOf))
  }

  /** What a page's disks hold of former shoppers (rule 6) and of discarded attempts (rule 7). */
  *former({ ledger, disks }: Page): Generator<[6 | 7, string]> {
    const visitorIsFormer = (id: string) => {
      const known = this.words.visitors.get(id)
      return known !== undefined && isFormer(known, ledger)
    }
    for (const disk of disks) {
      for (const { text, words, visitors } of this.on(disk)) {
        if (words.some((word) => isFormer(word, ledger))) yield [6, "storage holds a former shopper's attempt or photo"]
        if (visitors.some(visitorIsFormer)) yield [6, "storage holds a former shopper's visitor ID"]
        const isKept = (attempt: string) => text.includes(`"attemptId":"${attempt}"`) && text.includes('"phase"')
        // a tier that did not answer keeps its copy until somebody looks at it again; it is shown by nobody
        if (disks.length === 1 && [...ledger.discarded.keys()].some(isKept))
          yield [7, 'a discarded attempt is in storage again']
      }
      const photos = this.photosOn(disk)
      if (photos.some((word) => word && isFormer(word, ledger))) yield [6, "a former shopper's photo is in storage"]
    }
  }

  /** What is on a disk a month later, but for what `isOpen` says may still come to something (rule 10). */
  *overdue(disk: Disk, room: RoomLedger, isOpen: (word: Word) => boolean): Generator<string> {
    for (const { words, visitors } of this.on(disk)) {
      const [old] = words.filter((word) => word.room === room)
      if (old && !old.isUnlisted && !isOpen(old)) yield 'a month later an attempt or photo is in storage'
      const known = visitors.some((id) => this.words.visitors.get(id)?.room === room)
      if (known && !old) yield 'a month later a visitor ID is in storage'
    }
    if (this.photosOn(disk).some((word) => word?.room === room)) yield 'a month later a photo waits in storage'
  }
}

const isFormer = ({ room, shopper, isBlind, isUnlisted }: Word | Visitor, ledger: RoomLedger) =>
  room === ledger && shopper < ledger.floor && !isBlind && !isUnlisted
