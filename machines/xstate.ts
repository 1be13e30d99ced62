import * as xstate from 'xstate'
import { requestMachine as requestTable } from './request.machine.ts'
import { tableIn, type Table } from './setup.ts'
import type { StateNode } from './tree.ts'
import { tryOnMachine as tryOnTable } from './try-on.machine.ts'

type Given = any

/** What stands in a table, in XState's own form. */
const part = (given: Given): unknown => {
  if (given.root) return machineOf(given)
  if ('assigns' in given) return xstate.assign(given.assigns)
  if ('to' in given) return xstate.sendTo(given.to, given.event)
  return 'event' in given ? xstate.sendParent(given.event) : given
}

const parts = (given: object) => Object.fromEntries(Object.entries(given).map(([name, each]) => [name, part(each)]))

/** What a machine asks for; whoever runs one without a room provides it. */
const unprovided = xstate.fromPromise(() => Promise.reject(new Error('an actor is to be provided, as a room does')))

const invokedIn = ({ config, children }: StateNode): string[] => [
  ...(config.invoke ? [config.invoke.src] : []),
  ...Object.values(children).flatMap(invokedIn),
]

function machineOf({ root, actors, actions, guards, delays }: Table): xstate.AnyStateMachine {
  const missing = Object.fromEntries(invokedIn(root).map((src) => [src, unprovided]))
  return xstate.createMachine(
    root.config as Given,
    { actors: { ...missing, ...parts(actors) }, actions: parts(actions), guards, delays } as Given,
  )
}

/** The machine of a try-on as an XState machine, to draw, test or run with XState. */
export const tryOnMachine = machineOf(tableIn(tryOnTable)) as typeof tryOnTable
/** The machine of one request that may be repeated. */
export const requestMachine = machineOf(tableIn(requestTable)) as typeof requestTable
