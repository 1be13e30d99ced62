/** What `on`, `always` and the like have: where to go, on which condition, and what is done on the way. */
export interface Transition {
  target?: string
  guard?: Named
  actions?: Named | readonly Named[]
}

/** A name, with what is given to what it stands for. */
export type Named = string | { type: string; params?: unknown }

export type Transitions = string | Transition | readonly (string | Transition)[] | undefined

/** A state as its table has it. */
interface StateConfig {
  id?: string
  type?: 'parallel' | 'final'
  initial?: string
  states?: Readonly<Record<string, StateConfig>>
  on?: Readonly<Record<string, Transitions>>
  always?: Transitions
  after?: Readonly<Record<string, Transitions>>
  onDone?: Transitions
  entry?: Named
  exit?: Named
  tags?: string
  invoke?: { src: string; id?: string; input: (scope: object) => unknown; onDone?: Transitions; onError?: Transitions }
}

/** A state in its place; `order` is that of the table. */
export interface StateNode {
  key: string
  id: string
  order: number
  parent: StateNode | null
  children: Readonly<Record<string, StateNode>>
  config: StateConfig
}

/** The states of a machine, as a tree. */
export const treeOf = (config: StateConfig): StateNode => nodeOf(config, '', null, { count: 0 })

function nodeOf(config: StateConfig, key: string, parent: StateNode | null, total: { count: number }): StateNode {
  const id = parent === null ? (config.id ?? '') : `${parent.id}.${key}`
  const children: Record<string, StateNode> = {}
  const node = { key, id, order: total.count++, parent, children, config }
  for (const [name, child] of Object.entries(config.states ?? {})) children[name] = nodeOf(child, name, node, total)
  return node
}

export const isParallel = ({ config }: StateNode) => config.type === 'parallel'
export const invokeId = ({ config, id }: StateNode) => config.invoke?.id ?? `0.${id}`

/** The state that a transition names: absolute after `#`, else beside its source. Every table names states that are there. */
export function targetOf(source: StateNode, target: string): StateNode {
  const isAbsolute = target.startsWith('#')
  let node: StateNode | undefined = isAbsolute ? rootOf(source) : (source.parent ?? source)
  const path = target.split('.')
  for (const key of isAbsolute ? path.slice(1) : path) node = node?.children[key]
  return node!
}

const rootOf = (node: StateNode): StateNode => (node.parent ? rootOf(node.parent) : node)

/** From the state's parent up to the root. */
export const ancestorsOf = ({ parent }: StateNode): StateNode[] => (parent ? [parent, ...ancestorsOf(parent)] : [])

export const isWithin = (node: StateNode, outer: StateNode) => ancestorsOf(node).includes(outer)

/** The transitions of one state for an event, in the order in which they are looked at. */
export function transitionsOf(node: StateNode, type: string): Transition[] {
  const { id, config } = node
  const { on = {}, after = {}, invoke, onDone } = config
  const actor = invokeId(node)
  const found: Transitions[] = [on[type]]
  for (const [delay, transitions] of Object.entries(after)) if (type === afterType(delay, id)) found.push(transitions)
  if (type === `xstate.done.actor.${actor}`) found.push(invoke?.onDone)
  if (type === `xstate.error.actor.${actor}`) found.push(invoke?.onError)
  if (type === `xstate.done.state.${id}`) found.push(onDone)
  return [...found, on['*']].flatMap(listOf)
}

export const afterType = (delay: string, id: string) => `xstate.after.${delay}.${id}`

export const listOf = (transitions: Transitions): Transition[] =>
  [transitions ?? []].flat().map((each) => (typeof each === 'string' ? { target: each } : each))
