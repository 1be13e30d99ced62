import type { Written } from '../../machines/try-on.types.ts'
import { newId } from '../platform/new-id.ts'
import type { Clock } from '../ports.ts'
import { advance, type AttemptRecord } from '../rules/record.ts'
import { isDoneWith } from './archive.ts'
import { isAsSeen, isOf, type Current } from './current.ts'
import type { Kept } from './journal.ts'
import type { Leaving, LeavingParts } from './leaving.ts'

/** What stands in storage before money may be spent, and is looked at once more just before it is. */
export interface Claims {
  /**
   * The claim that stands before the POST leaves, unless nobody waits for it any more; where it cannot, a page stops it that
   * no other one took over from.
   */
  claim(consented: AttemptRecord, isUntaken: () => Promise<boolean>, signal?: AbortSignal): Promise<Written>
  /** Whether the claim still stands: the last look before the socket. */
  isWanted(claimed: AttemptRecord): Promise<boolean>
}

interface ClaimsParts extends LeavingParts {
  clock: Clock
}

/** `begun` are the attempts that this page has begun. */
export function createClaims(
  parts: ClaimsParts,
  current: Current,
  leaving: Leaving,
  begun: ReadonlySet<string>,
): Claims {
  const { replace, remove } = current

  const copies = () => current.cell().copies()

  /** Storage did not take the claim and holds the consent, with which a reload would submit again: that goes first. */
  async function claimAnew(claimed: AttemptRecord, isWanted: () => boolean): Promise<Kept> {
    await remove(claimed)
    return replace(claimed, (found) => found === null, isWanted)
  }

  /** Whether some tier holds a record as it was seen. */
  const isHeld = async (seen: AttemptRecord) => (await copies()).some((copy) => isAsSeen(copy, seen))

  /** Whether an older copy of the attempt may come back that would submit it again. */
  const mayComeBack = async (claimed: AttemptRecord) =>
    (await copies()).some((copy) => isOf(copy, claimed.attemptId) && copy.phase !== 'claimed')

  return {
    async claim(consented, isUntaken, signal) {
      if (await isDoneWith(parts, consented)) {
        await remove(consented)
        return { kind: 'overtaken' }
      }
      const claimed = advance(consented, parts.clock.now(), { phase: 'claimed', claim: newId() })
      const listed = await current.list(consented)
      let isGivenUp = false
      const isWanted = () => !isGivenUp
      let kept = await replace(claimed, (found) => !signal?.aborted && isAsSeen(found, consented), isWanted)
      // whoever goes on with it claims it anew
      if (kept === 'unchanged' && signal?.aborted) return { kind: 'overtaken' }
      if (kept === 'memory' && isOf(current.onDisk(), claimed.attemptId)) {
        kept = await claimAnew(claimed, isWanted)
        // it is taken away, and nobody is here to say so
        if (kept !== 'stored' && signal?.aborted) {
          await replace(consented, (found) => found === null || isAsSeen(found, claimed))
          return { kind: 'overtaken' }
        }
      }
      // where the consent stands as it was seen and cannot be changed, storage cannot be relied on
      if (kept === 'unchanged' && !(await isHeld(consented))) return { kind: 'overtaken' }
      const isKnown = !begun.has(claimed.attemptId)
      const isClaimed = kept === 'stored' || (kept === 'memory' && parts.mayClaimInMemory(isKnown))
      if (isClaimed && listed !== 'gone' && !(await mayComeBack(claimed))) {
        const written = await current.asWhole(claimed, listed, kept)
        // the page was left as it landed, and sends nothing: the consent stands again, as the later of the two
        const again = { ...consented, savedAt: claimed.savedAt + 1 }
        const isLeft = signal?.aborted && (await replace(again, (found) => isAsSeen(found, claimed))) === 'stored'
        return isLeft ? { kind: 'overtaken' } : current.written(claimed, written)
      }
      // what lands later would say that it may have been sent
      isGivenUp = true
      // another page may have taken over from one whose storage fails, and what stands is that page's
      if (!(await isUntaken())) {
        current.cell().forget()
        return { kind: 'overtaken' }
      }
      await leaving.stop(claimed)
      return current.stopped(consented)
    },

    async isWanted(claimed) {
      if (!(await current.isAlive(claimed))) return false
      const cell = current.cell()
      // who has taken the consent back could not see a claim that only memory has
      const isSeen = isOf(cell.onDisk(), claimed.attemptId)
      if (!isSeen && (await parts.catalog.fateOf(claimed.attemptId))) return false
      // a word that was given while a tier fails goes on without that one
      const found = await cell.read().then(
        (each) => [each],
        () => cell.copies(),
      )
      const own = found.filter((each) => isOf(each, claimed.attemptId))
      return own.length > 0 && own.every((each) => isAsSeen(each, claimed))
    },
  }
}
