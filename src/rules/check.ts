import { TryOnError } from './try-on-error.ts'

/** Throws a `TryOnError` of kind `input` for what an application has given unless it is right; `valid` says what would be. */
export function check(isRight: unknown, at: string, given: unknown, valid: string, example?: string): asserts isRight {
  if (isRight) return
  throw new TryOnError({ kind: 'input', at, given: textOf(given), valid, ...(example && { example }) })
}

/** What was given, short, and of an object no more than that it is one: it may hold a key. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 80))
  if (Array.isArray(value)) return value.length > 0 ? 'a list' : 'an empty list'
  return isObject(value) ? 'an object' : typeof value === 'function' ? 'a function' : String(value)
}

export const isObject = (value: unknown) => typeof value === 'object' && value !== null
