import { deferred } from '../platform/deferred.ts'
import { quiet } from '../platform/quiet.ts'
import type { Core } from '../room.types.ts'
import { stopped } from '../rules/try-on-error.ts'

/** The way in to the core, which is loaded at the first need. */
export interface Entry {
  /** Another one each time that the room is left, which rejects then: what was asked for does not open it again. */
  life(): Promise<never>
  /** The core once it is loaded. */
  core(): Core | null
  /** The core where it is open: it has read storage, and was not left since. */
  opened(): Core | null
  /** Whether somebody has asked for the core since it was left. */
  isWanted(): boolean
  /** Loads the core. */
  make(): Promise<Core>
  /** Loads the core, and has it read storage; nobody has to listen to its failure. */
  open(): Promise<Core>
  /** Asks the core, unless the room is left meanwhile. */
  use<T>(how: (core: Core) => T | Promise<T>): Promise<T>
  leave(): void
}

interface EntryParts {
  load: () => Promise<Core>
  /** What is being wiped, if anything is: nobody is shown what is of a shopper who has gone. */
  wiping: () => Promise<void> | null
  onUse: () => void
  onOpen: (core: Core) => void
}

export function createEntry({ load, wiping, onUse, onOpen }: EntryParts): Entry {
  let core: Core | null = null
  let making: Promise<Core> | null = null
  let opening: Promise<Core> | null = null
  let opened: Core | null = null
  let ends = beginLife()
  const life = () => ends.promise

  function make(): Promise<Core> {
    const begun = (making ??= load().then((made) => (core = made)))
    begun.catch(() => making === begun && (making = null))
    return begun
  }

  async function enter(): Promise<Core> {
    const begun = life()
    const made = await make()
    // what is wrong with storage the try-ons say
    if (begun === life()) await made.ready.catch(() => undefined)
    await wiping()?.catch(() => undefined)
    if (begun !== life()) return begun
    opened = made
    onOpen(made)
    return made
  }

  function open(): Promise<Core> {
    const entering = (opening ??= Promise.race([life(), enter()]))
    entering.catch(() => opening === entering && (opening = null))
    onUse()
    return entering
  }

  return {
    life,
    core: () => core,
    opened: () => opened,
    isWanted: () => opening !== null,
    make,
    open,
    use(how) {
      const begun = life()
      return quiet(open().then((made) => (begun === life() ? how(made) : begun)))
    },
    leave() {
      ends.reject(stopped('closed'))
      ends = beginLife()
      opening = null
      opened = null
    },
  }
}

function beginLife() {
  const ends = deferred<never>()
  void quiet(ends.promise)
  return ends
}
