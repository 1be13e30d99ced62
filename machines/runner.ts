import type * as xstate from 'xstate'
import { guarded, report } from '../src/platform/guarded.ts'
import type { Clock } from '../src/ports.ts'
import { tableIn, type Table } from './setup.ts'
import {
  enteredBy,
  isFinal,
  leftBy,
  resolved,
  snapshotOf,
  stepsAlways,
  stepsFor,
  type MachineEvent,
  type MachineSnapshot,
  type Scope,
  type Step,
} from './snapshot.ts'
import { afterType, invokeId, type Named, type StateNode } from './tree.ts'

interface RunnerOptions {
  input: unknown
  clock: Pick<Clock, 'now' | 'setTimeout' | 'clearTimeout'>
  /** Hears every event, where it has led, and what it waits for until when, in epoch ms. */
  inspect?: ((event: MachineEvent, value: unknown, waits: readonly Delayed[]) => void) | undefined
  /** What is at work in another machine tells it. */
  tellParent?: ((event: MachineEvent) => void) | undefined
  onEnd?: ((how: End) => void) | undefined
}

/** Hears where it stands after each event, and what it broke at. */
interface Observer<Snapshot> {
  next: (snapshot: Snapshot) => void
  error?: (error: unknown) => void
}

/** A delay of a machine, by its name, and when it is over, in epoch ms. */
interface Delayed {
  delay: string
  until: number
}

/** What a state has begun, and ends when it is left. */
interface Work {
  id: string
  send?: (event: MachineEvent) => void
  delayed?: Delayed
  stop(): void
}

/** What a state begins once the machine stands still. */
type Begun = Pick<Work, 'send' | 'stop'> & { start(): void }

type Action =
  | { assigns: (scope: Scope, params: unknown) => object }
  | { to?: (scope: Scope, params: unknown) => string; event: (scope: Scope, params: unknown) => MachineEvent }
type Begin = (given: { input: unknown; signal: AbortSignal }) => PromiseLike<unknown>
type Actor = Table | { begin: Begin }
/** How something at work has ended. */
type End = { output: unknown } | { error: unknown }

/**
 * Runs a machine as XState does, as far as these tables go: states that contain others or stand side by side, guards,
 * `always`, `after`, `invoke` of promises and of other machines. What is begun and told takes effect once the machine
 * stands still; events that come meanwhile wait.
 */
function run(table: Table, { input, clock, inspect, tellParent, onEnd }: RunnerOptions) {
  const { root } = table
  const config = root.config as { context: (given: object) => object; output?: (scope: Scope) => unknown }
  const intoRoot: Step = { to: root, domain: null }
  const observers = new Set<ReturnType<typeof guardedObserver>>()
  const works = new Map<StateNode, Work[]>()
  const events: MachineEvent[] = []
  const raised: MachineEvent[] = []
  const later: (() => void)[] = []
  let active: ReadonlySet<StateNode> = new Set()
  let context = config.context({ input })
  let status: MachineSnapshot['status'] = 'active'
  let shown = snapshotOf(table, active, context, status)
  let isBusy = false

  const worksNow = () => [...works.values()].flat()

  function act(named: Named, event: MachineEvent): void {
    const scope = { context, event }
    const [name, params] = resolved(named, scope)
    const action = (table.actions as Record<string, Action>)[name]!
    if ('assigns' in action) {
      context = { ...context, ...action.assigns(scope, params) }
      return
    }
    const told = action.event(scope, params)
    const to = action.to?.(scope, params)
    later.push(() => {
      if (to === undefined) return tellParent?.(told)
      for (const { id, send: sendOn } of worksNow()) if (id === to) sendOn?.(told)
    })
  }

  const actAll = (actions: Named | readonly Named[] | undefined, event: MachineEvent) =>
    [actions ?? []].flat().forEach((named) => act(named, event))

  function leave(node: StateNode, event: MachineEvent): void {
    actAll(node.config.exit, event)
    for (const work of works.get(node) ?? []) work.stop()
    works.delete(node)
  }

  function enter(node: StateNode, event: MachineEvent): void {
    const { entry, after = {}, invoke, type } = node.config
    actAll(entry, event)
    const begun = Object.keys(after).map((delay) => waiting(delay, node, event))
    if (invoke) begun.push(working(node, invoke.src, invoke.input({ context, event })))
    works.set(node, begun)
    const { parent } = node
    if (type !== 'final' || !parent) return
    if (parent === root) status = 'done'
    raised.push({ type: `xstate.done.state.${parent.id}` })
    const outer = parent.parent
    if (outer?.config.type === 'parallel' && isFinal(outer, active))
      raised.push({ type: `xstate.done.state.${outer.id}` })
  }

  function waiting(delay: string, node: StateNode, event: MachineEvent): Work {
    const ms = (table.delays as Record<string, (scope: Scope) => number>)[delay]!({ context, event })
    const timer = clock.setTimeout(() => send({ type: afterType(delay, node.id) }), ms)
    return { id: '', delayed: { delay, until: clock.now() + ms }, stop: () => clock.clearTimeout(timer) }
  }

  function working(node: StateNode, src: string, given: unknown): Work {
    const id = invokeId(node)
    const actor = (table.actors as Record<string, Actor>)[src]!
    const ended = (how: End) => send({ type: `xstate.${'output' in how ? 'done' : 'error'}.actor.${id}`, ...how })
    const { start, ...work }: Begun =
      'begin' in actor
        ? promised(actor.begin, given, ended)
        : run(actor, { input: given, clock, tellParent: send, onEnd: ended })
    later.push(start)
    return { id, ...work }
  }

  function make(steps: readonly Step[], event: MachineEvent): void {
    const left = new Set(steps.flatMap((step) => leftBy(step, active)))
    for (const node of left) leave(node, event)
    for (const { actions } of steps) actAll(actions, event)
    const next = new Set([...active].filter((node) => !left.has(node)))
    active = next
    for (const node of steps.flatMap(enteredBy)) {
      next.add(node)
      enter(node, event)
    }
  }

  /** Until nothing more happens by itself. */
  function settle(event: MachineEvent): void {
    let current: MachineEvent = event
    while (status === 'active') {
      const steps = stepsAlways(table, active, { context, event: current })
      if (steps.length > 0) {
        make(steps, current)
        continue
      }
      const next = raised.shift()
      if (!next) return
      current = next
      make(stepsFor(table, active, { context, event: next }), next)
    }
  }

  function react(event: MachineEvent & { error?: unknown }): void {
    const steps = event === started ? [intoRoot] : stepsFor(table, active, { context, event })
    if (steps.length === 0 && event.type.startsWith('xstate.error.')) throw event.error
    make(steps, event)
    settle(event)
  }

  function step(event: MachineEvent): void {
    try {
      react(event)
    } catch (error) {
      return fail(error)
    }
    shown = snapshotOf(table, active, context, status)
    for (const effect of later.splice(0)) effect()
    for (const observer of observers) observer.next(shown)
    inspect?.(
      event,
      shown.value,
      worksNow().flatMap(({ delayed }) => delayed ?? []),
    )
    if (status !== 'done') return
    end()
    onEnd?.({ output: config.output?.({ context, event }) })
  }

  function fail(error: unknown): void {
    status = 'error'
    shown = snapshotOf(table, active, context, status)
    for (const observer of observers) observer.error(error)
    end()
    onEnd?.({ error })
  }

  function end(): void {
    for (const work of worksNow()) work.stop()
    works.clear()
    observers.clear()
  }

  function send(event: MachineEvent): void {
    if (status !== 'active') return
    events.push(event)
    if (isBusy) return
    isBusy = true
    try {
      for (let next = events.shift(); next && status === 'active'; next = events.shift()) step(next)
    } finally {
      isBusy = false
    }
  }

  return {
    send,
    start: () => send(started),
    stop() {
      if (status !== 'active') return
      status = 'stopped'
      shown = snapshotOf(table, active, context, status)
      end()
    },
    getSnapshot: () => shown,
    subscribe(given: Observer<MachineSnapshot>) {
      const observer = guardedObserver(given)
      if (status === 'active') observers.add(observer)
      // nothing more is to be heard of it
      else if (status === 'error') observer.error(new Error('it has failed'))
      return { unsubscribe: () => void observers.delete(observer) }
    },
  }
}

/** Awaits what that begins; where it is stopped nobody hears of it any more. */
function promised(begin: Begin, input: unknown, onEnd: (how: End) => void): Begun {
  const ends = new AbortController()
  let isOver = false
  const end = (how: End) => {
    if (isOver) return
    isOver = true
    onEnd(how)
  }
  return {
    start() {
      if (isOver) return
      const begun = new Promise((resolve) => resolve(begin({ input, signal: ends.signal })))
      begun.then(
        (output) => end({ output }),
        (error: unknown) => end({ error }),
      )
    },
    stop() {
      if (!isOver) ends.abort()
      isOver = true
    },
  }
}

/** The event of which a machine enters its first states. */
const started: MachineEvent = { type: 'xstate.init' }

/** Whose failures stop nothing; what nobody hears is reported. */
const guardedObserver = ({ next, error = report }: Observer<MachineSnapshot>) => ({
  next: guarded(next),
  error: guarded(error),
})

/** A machine at work: what XState calls an actor, as far as it is used. */
export type Runner<Machine extends xstate.AnyStateMachine> = Pick<
  xstate.Actor<Machine>,
  'send' | 'stop' | 'getSnapshot'
> & { subscribe(observer: Observer<xstate.SnapshotFrom<Machine>>): { unsubscribe(): void } }

export function createRunner<Machine extends xstate.AnyStateMachine>(
  machine: Machine,
  options: Pick<RunnerOptions, 'clock' | 'inspect'> & { input: xstate.InputFrom<Machine> },
): Runner<Machine> & { start(): void } {
  return run(tableIn(machine), options) as unknown as Runner<Machine> & { start(): void }
}
