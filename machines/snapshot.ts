import type { Table } from './setup.ts'
import {
  ancestorsOf,
  isParallel,
  isWithin,
  listOf,
  targetOf,
  transitionsOf,
  type Named,
  type StateNode,
  type Transition,
} from './tree.ts'

export interface MachineEvent {
  type: string
}

export interface Scope {
  context: object
  event: MachineEvent
}

/** One step that an event makes, and where to; null where nothing is left. */
export interface Step {
  actions?: Transition['actions'] | undefined
  to: StateNode | null
  /** What is left is within it. */
  domain: StateNode | null
}

/** Which states are active; a state's ancestors are, too. */
export type Active = ReadonlySet<StateNode>

const inOrder = (one: StateNode, other: StateNode) => one.order - other.order

/** The steps that are to be made: in each region the innermost. No two of them leave the same state. */
function stepsOf(table: Table, active: Active, scope: Scope, listed: (node: StateNode) => Transition[]): Step[] {
  const found = new Map<StateNode, Step>()
  const leaves = [...active].filter((node) => !node.config.states).sort(inOrder)
  for (const leaf of leaves) {
    for (const source of [leaf, ...ancestorsOf(leaf)]) {
      const transition = listed(source).find(({ guard }) => guard === undefined || passes(table, guard, scope))
      if (!transition) continue
      found.set(source, stepOf(source, transition))
      break
    }
  }
  return [...found.values()]
}

export const stepsFor = (table: Table, active: Active, scope: Scope) =>
  stepsOf(table, active, scope, (node) => transitionsOf(node, scope.event.type))

export const stepsAlways = (table: Table, active: Active, scope: Scope) =>
  stepsOf(table, active, scope, ({ config }) => listOf(config.always))

/** No state of these tables leads into itself, or into one within it, without being left. */
function stepOf(source: StateNode, { target, actions }: Transition): Step {
  if (target === undefined) return { actions, to: null, domain: null }
  const to = targetOf(source, target)
  return { actions, to, domain: ancestorsOf(to).find((node) => isWithin(source, node)) ?? null }
}

/** The active states that a step leaves, the innermost first. */
export const leftBy = ({ domain }: Step, active: Active): StateNode[] =>
  domain === null
    ? []
    : [...active]
        .filter((node) => isWithin(node, domain))
        .sort(inOrder)
        .reverse()

/** The states that a step enters, the outermost first; none of these tables leads into one region of several. */
export function enteredBy({ to, domain }: Step): StateNode[] {
  if (to === null) return []
  const outer = ancestorsOf(to).filter((node) => domain !== null && isWithin(node, domain))
  return [...outer.reverse(), ...withInitial(to)]
}

/** A state with what is entered in it when nothing else is said. */
function withInitial(node: StateNode): StateNode[] {
  const { children, config } = node
  const inner = isParallel(node)
    ? Object.values(children)
    : Object.values(children).filter(({ key }) => key === config.initial)
  return [node, ...inner.flatMap(withInitial)]
}

const activeIn = ({ children }: StateNode, active: Active) =>
  Object.values(children).filter((child) => active.has(child))

export const isFinal = (node: StateNode, active: Active): boolean => {
  const inner = activeIn(node, active)
  return isParallel(node)
    ? inner.every((child) => isFinal(child, active))
    : inner.some(({ config }) => config.type === 'final')
}

function passes({ guards }: Table, guard: Named, scope: Scope): boolean {
  const [name, params] = resolved(guard, scope)
  return (guards as Record<string, (scope: Scope, params: unknown) => boolean>)[name]!(scope, params)
}

export function resolved(named: Named, scope: Scope): [name: string, params: unknown] {
  if (typeof named === 'string') return [named, undefined]
  const { type, params } = named
  return [type, typeof params === 'function' ? params(scope) : params]
}

/** What there is at one moment, and what could happen then. */
export interface MachineSnapshot {
  status: 'active' | 'done' | 'error' | 'stopped'
  value: unknown
  context: object
  hasTag(tag: string): boolean
  can(event: MachineEvent): boolean
}

export function snapshotOf(
  table: Table,
  active: Active,
  context: object,
  status: MachineSnapshot['status'],
): MachineSnapshot {
  const value = valueOf(table.root, active)
  return {
    status,
    value,
    context,
    hasTag: (tag) => [...active].some(({ config }) => config.tags === tag),
    can: (event) => stepsFor(table, active, { context, event }).some(({ to, actions }) => to ?? actions),
  }
}

function valueOf(node: StateNode, active: Active): unknown {
  const inner = activeIn(node, active)
  const [only] = inner
  if (only && !isParallel(node) && !only.config.states) return only.key
  return Object.fromEntries(inner.map((child) => [child.key, valueOf(child, active)]))
}

/** The snapshot that stands in that state, as if nothing had led to it. */
export function snapshotAt(table: Table, path: string, context: object): MachineSnapshot {
  const { root } = table
  const to = targetOf(root, path)
  return snapshotOf(table, new Set([root, ...ancestorsOf(to), ...withInitial(to)]), context, 'active')
}
