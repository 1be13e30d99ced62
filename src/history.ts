import type { TabMessage } from './pages/tabs.ts'
import { createValue } from './platform/value.ts'
import type { Readable } from './ports.ts'
import type { TryOnState } from './rules/words.ts'

/**
 * A list of attempts that is read again when one of them changes, here or in another tab, while somebody watches. What it
 * has that is under way goes on, as if its try-on were shown.
 */
export interface History<Entry> extends Readable<readonly Entry[]> {
  /** What the pages of the room say of their try-ons. */
  hear(message: TabMessage): void
  /** Some of that may not have been heard. */
  missed(): void
  forget(): void
}

interface Attempt {
  attemptId: string
  archived: boolean
  state: TryOnState
  open(): Pick<Readable<unknown>, 'subscribe'>
}

/** `later` has something done a while later. */
export function createHistory<Entry extends Attempt>(
  list: () => Promise<Entry[]>,
  later: (run: () => void) => void,
): History<Entry> {
  const shown = createValue<readonly Entry[]>([])
  /** Where each try-on was last said to stand. */
  const stands = new Map<string, string>()
  /** What keeps each attempt going that is under way, by where it stands. */
  let followed = new Map<string, { unsubscribe(): void }>()
  let reading: Promise<void> | null = null
  let isOutdated = false

  /** Reads once more where something has changed meanwhile. */
  async function read(): Promise<void> {
    do {
      isOutdated = false
      const entries = await list().catch(() => null)
      if (entries === null) later(refresh)
      else if (!isOutdated) {
        // who hears of it may close the room
        follow(entries)
        shown.set(entries)
      }
      // of one whose page is gone nobody says when it has become too old
      if (entries?.some(({ state }) => state === 'preparing' || state === 'submitting')) later(refresh)
    } while (isOutdated)
  }

  function follow(entries: readonly Entry[]): void {
    const before = followed
    const running = entries.filter(({ state }) => state === 'processing' || state === 'preview')
    followed = new Map(
      running.map((each) => [placeOf(each), before.get(placeOf(each)) ?? each.open().subscribe(unheard)]),
    )
    for (const [id, each] of before) if (!followed.has(id)) each.unsubscribe()
  }

  function refresh(): void {
    isOutdated = true
    if (shown.isWatched()) reading ??= read().finally(() => (reading = null))
  }

  return {
    ...shown,
    subscribe(onChange) {
      const subscription = shown.subscribe(onChange)
      refresh()
      return {
        unsubscribe() {
          subscription.unsubscribe()
          if (!shown.isWatched()) follow([])
        },
      }
    },
    hear(message) {
      if (message.type !== 'view' && message.type !== 'lateAnswer') return
      const standing = message.type === 'view' ? standingOf(message.view) : ''
      if (standing !== '' && stands.get(message.name) === standing) return
      stands.set(message.name, standing)
      refresh()
    },
    missed() {
      stands.clear()
      refresh()
    },
    forget() {
      stands.clear()
      shown.set([])
      follow([])
      refresh()
    },
  }
}

/** What was left is followed by another try-on than before. */
const placeOf = ({ attemptId, archived }: Attempt) => `${attemptId} ${archived}`

const unheard = () => {}

const standingOf = ({ state, attempt, preview, result, durable }: Extract<TabMessage, { type: 'view' }>['view']) =>
  JSON.stringify([state, attempt, preview, result, durable])
