import type { Runner as RunnerOf } from '../../machines/runner.ts'
import type { tryOnMachine } from '../../machines/try-on.machine.ts'

/** What runs the machine of a try-on. */
export type Runner = RunnerOf<typeof tryOnMachine>
