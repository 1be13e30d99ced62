import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Line } from '../ports.ts'
import { DrawingEnded, EndsProcesses, LineFull, mostOfClient, spentSignal, TookTooMuch } from './not-drawn.ts'

/** What a process is sent, and what it says of it; before the first it says `ready`. */
export interface Errand {
  method: string
  args: unknown[]
}
export type Reply = 'ready' | { value: unknown } | { error: string }

export interface ProcessesOptions {
  file: string
  args: string[]
  /** All that they are told of their environment. */
  env?: Record<string, string>
  atOnce: number
  beginsAtOnce: boolean
  /** How long an errand may take by the clock, in ms. */
  longestMs: number
}

/** Processes that do one errand at a time each. One that ends is replaced, and what it was at is done again. */
export interface Processes {
  /** Rejects with `TookTooMuch`, `EndsProcesses`, `LineFull`, `DrawingEnded`, or as the errand does. */
  ask(errand: Errand, line: Line): Promise<unknown>
  close(): Promise<void>
}

interface Task {
  errand: Errand
  line: Line
  /** How many processes have ended with it. */
  ended: number
  resolve: (value: unknown) => void
  reject: (error: Error) => void
}

interface Place {
  child: ChildProcess | null
  isReady: boolean
  /** It has run into the clock's limit. */
  isSpent: boolean
  /** It could not begin one a moment ago. */
  isResting: boolean
  task: Task | null
  timer: NodeJS.Timeout | undefined
}

/** How many processes an errand may end. */
const mostEnded = 3
/** How long a process may take to begin, in ms: a machine that is busy takes seconds. */
const longestBeginMs = 300_000
/** How soon a process that could not begin is tried again, in ms, and how often before nobody waits for it any more. */
const againMs = 1_000
const mostBegins = 5
/** How many lines are remembered in their order. */
const mostLines = 1_000

export function openProcesses(options: ProcessesOptions): Processes {
  const { file, args, env = {}, atOnce, beginsAtOnce, longestMs } = options
  const places: Place[] = Array.from({ length: atOnce }, () => ({
    child: null,
    isReady: false,
    isSpent: false,
    isResting: false,
    task: null,
    timer: undefined,
  }))
  const mostUploads = Math.max(1, atOnce - 1)
  const waiting: Task[] = []
  /** When each kind and each line had its last turn. */
  const turns = new Map<string, number>()
  let turn = 0
  let begunInVain = 0
  let isClosed = false

  const nameOf = ({ kind, of }: Line) => `${kind} ${of}`
  const beginning = () => places.filter(({ child, isReady }) => child && !isReady).length
  const lastTurn = (name: string) => turns.get(name) ?? 0

  /** Null where there is no memory for one. */
  function forked(): ChildProcess | null {
    try {
      // bytes as they are; and nothing of this process that a picture could want
      return fork(file, args, { serialization: 'advanced', execArgv: [], env })
    } catch {
      return null
    }
  }

  function begin(place: Place): void {
    const child = forked()
    if (child === null) return rest(place)
    place.child = child
    place.isReady = false
    place.isSpent = false
    limit(place, longestBeginMs)
    child.on('message', (said: Reply) => hear(place, child, said))
    child.once('exit', (_, signal) => end(place, child, signal))
    // what could not begin, or be sent to, has ended or does so now
    child.on('error', () => (child.pid === undefined ? end(place, child, null) : child.kill('SIGKILL')))
  }

  function limit(place: Place, longestMs: number): void {
    clearTimeout(place.timer)
    place.timer = setTimeout(() => {
      place.isSpent = true
      place.child?.kill('SIGKILL')
    }, longestMs)
  }

  function hear(place: Place, child: ChildProcess, said: Reply): void {
    if (place.child !== child) return
    clearTimeout(place.timer)
    if (said === 'ready') {
      place.isReady = true
      begunInVain = 0
    } else {
      const { task } = place
      place.task = null
      if ('error' in said) task?.reject(new Error(said.error))
      else task?.resolve(said.value)
    }
    next()
  }

  function end(place: Place, child: ChildProcess, signal: NodeJS.Signals | null): void {
    if (place.child !== child) return
    clearTimeout(place.timer)
    const { task, isReady } = place
    const isSpent = signal === spentSignal || (place.isSpent && isReady)
    Object.assign(place, { child: null, isReady: false, task: null })
    if (task) {
      task.ended += 1
      if (isSpent) task.reject(new TookTooMuch())
      else if (task.ended === mostEnded) task.reject(new EndsProcesses())
      else waiting.unshift(task)
    }
    if (!isReady) rest(place)
    next()
  }

  /** A machine that has no room for a process now may have it later. */
  function rest(place: Place): void {
    place.isResting = true
    setTimeout(() => {
      place.isResting = false
      next()
    }, againMs).unref()
    if (++begunInVain % mostBegins === 0) leaveAll(waiting.splice(0))
  }

  function leaveAll(tasks: readonly Task[]): void {
    for (const task of tasks) task.reject(new DrawingEnded())
  }

  /** Whose turn it is: of the kind, then of the line, that had none for longest. */
  function choice(): Task | undefined {
    const uploads = places.filter(({ task }) => task?.line.kind === 'upload').length
    const rank = ({ line }: Task) => [lastTurn(line.kind), lastTurn(nameOf(line))] as const
    let chosen: Task | undefined
    for (const task of waiting) {
      if (task.line.kind === 'upload' && uploads >= mostUploads) continue
      if (!chosen || isBefore(rank(task), rank(chosen))) chosen = task
    }
    return chosen
  }

  function next(): void {
    if (isClosed) return
    for (const place of places) {
      if (place.task) continue
      if (!place.child && !place.isResting && (beginsAtOnce || beginning() < waiting.length)) begin(place)
      const task = place.isReady ? choice() : undefined
      if (!task) continue
      waiting.splice(waiting.indexOf(task), 1)
      if (turns.size > mostLines) turns.clear()
      for (const name of [task.line.kind, nameOf(task.line)]) turns.set(name, ++turn)
      place.task = task
      limit(place, longestMs)
      place.child?.send(task.errand)
    }
  }

  next()
  return {
    ask(errand, line) {
      return new Promise((resolve, reject) => {
        const ofLine = waiting.filter((task) => nameOf(task.line) === nameOf(line))
        if (isClosed) return reject(new DrawingEnded())
        if (line.kind === 'upload' && ofLine.length >= mostOfClient) return reject(new LineFull())
        waiting.push({ errand, line, ended: 0, resolve, reject })
        next()
      })
    },
    async close() {
      isClosed = true
      leaveAll([...waiting.splice(0), ...places.flatMap(({ task }) => task ?? [])])
      const exits = places.map(async ({ child, timer }) => {
        clearTimeout(timer)
        if (!child || child.exitCode !== null || child.signalCode !== null) return
        const exit = once(child, 'exit')
        child.kill('SIGKILL')
        await exit
      })
      await Promise.all(exits)
    },
  }
}

const isBefore = ([kind, line]: readonly [number, number], [otherKind, otherLine]: readonly [number, number]) =>
  kind === otherKind ? line < otherLine : kind < otherKind
