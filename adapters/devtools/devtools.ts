import type { FittingRoom } from '../../src/room.types.ts'
import type { Inspect } from '../../src/try-on/try-on.types.ts'
import type { InspectedRequest } from '../../src/wire/operations.ts'
import { createLog } from './log.ts'
import { createPanel } from './panel.ts'
import { pagesOf, storedOf } from './surroundings.ts'

/** Shows what happens inside a room while you develop. */
export interface Devtools {
  /** To be spread into the options of the room. */
  readonly options: { inspect: Inspect; inspectRequests: (request: InspectedRequest) => void }
  /**
   * Shows the panel at the end of the page and keeps it up to date until it is closed. It asks the room once a second
   * what is stored, which reopens a closed room.
   */
  open(room: FittingRoom): { close(): void }
}

/** How often what tells nobody of its changes is looked at, in ms: storage, and the pages that wait for each other. */
const lookEveryMs = 1_000

/** A panel with what happens inside a room; nothing private is in it, and it sends no requests. */
export function createDevtools(): Devtools {
  const log = createLog()
  return {
    options: { inspect: log.heard, inspectRequests: log.requested },
    open(room) {
      const panel = createPanel()
      const show = () => panel.show(log, room.history.get())
      const look = async () => panel.showAround(await storedOf(room), await pagesOf())
      const { unsubscribe } = room.history.subscribe(show)
      const stopHearing = log.subscribe(show)
      const timer = setInterval(() => {
        show()
        void look()
      }, lookEveryMs)
      show()
      void look()
      document.body.append(panel.element)
      return {
        close() {
          clearInterval(timer)
          unsubscribe()
          stopHearing()
          panel.element.remove()
        },
      }
    },
  }
}
