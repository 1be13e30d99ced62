import * as xstate from 'xstate'
import { requestMachine as requestTable } from './request.machine.ts'
import { tableIn, type Table } from './setup.ts'
import { tryOnMachine as tryOnTable } from './try-on.machine.ts'

type Given = any

/** What stands in a table, in XState's own form. */
const part = (given: Given): unknown => {
  if (given.root) return machineOf(given)
  if ('assigns' in given) return xstate.assign(given.assigns)
  if ('begin' in given) return xstate.fromPromise(given.begin)
  if ('to' in given) return xstate.sendTo(given.to, given.event)
  return 'event' in given ? xstate.sendParent(given.event) : given
}

const parts = (given: object) => Object.fromEntries(Object.entries(given).map(([name, each]) => [name, part(each)]))

function machineOf({ root, actors, actions, guards, delays }: Table): xstate.AnyStateMachine {
  return xstate.createMachine(
    root.config as Given,
    { actors: parts(actors), actions: parts(actions), guards, delays } as Given,
  )
}

/** The machine of a try-on as XState's own, for those who draw, test or run it with XState. */
export const tryOnMachine = machineOf(tableIn(tryOnTable)) as typeof tryOnTable
/** The machine of one request that may be repeated. */
export const requestMachine = machineOf(tableIn(requestTable)) as typeof requestTable
