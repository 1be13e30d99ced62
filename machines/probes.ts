import { intents, type Intent } from '../src/rules/words.ts'
import type { TryOnEvent } from './try-on.types.ts'

/** The events that ask the machine whether an intent is permitted: what else is given with one is not looked at for that. */
export const probes = Object.fromEntries(intents.map((type) => [type, { type }])) as unknown as Readonly<
  Record<Intent, TryOnEvent>
>
