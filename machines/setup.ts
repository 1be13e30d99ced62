import type * as xstate from 'xstate'
import { treeOf, type StateNode } from './tree.ts'

/*
 * The words of XState that these machines are written in, as plain data: `runner.ts` runs it, and `xstate.ts` makes
 * XState's own machines of it. The types are XState's, so that every name and every parameter is checked; nothing of it
 * runs in a page.
 */

interface Parts {
  actors?: object
  actions?: object
  guards?: object
  delays?: object
}

/** A machine as data: what it consists of, and what the names in it stand for. */
export interface Table extends Required<Parts> {
  root: StateNode
  provide(parts: Parts): Table
}

function tableOf(root: StateNode, { actors = {}, actions = {}, guards = {}, delays = {} }: Parts): Table {
  const parts = { actors, actions, guards, delays }
  const provide = (given: Parts) =>
    tableOf(root, { ...parts, actors: { ...actors, ...given.actors }, guards: { ...guards, ...given.guards } })
  return { root, ...parts, provide }
}

export const setup = ((parts: Parts) => ({
  createStateConfig: (config: object) => config,
  createMachine: (config: object) => tableOf(treeOf(config), parts),
})) as unknown as typeof xstate.setup

export const assign = ((assigns: unknown) => ({ assigns })) as unknown as typeof xstate.assign
export const sendTo = ((to: unknown, event: unknown) => ({ to, event })) as unknown as typeof xstate.sendTo
export const sendParent = ((event: unknown) => ({ event })) as unknown as typeof xstate.sendParent
export const fromPromise = ((begin: unknown) => ({ begin })) as unknown as typeof xstate.fromPromise

/** What a machine of that `setup` is at run time. */
export const tableIn = (machine: xstate.AnyStateMachine) => machine as unknown as Table
