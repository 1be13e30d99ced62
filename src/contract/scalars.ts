import * as z from 'zod/mini'

// refine() says it all: zod's own checks of lengths, patterns and numbers would cost every shop their code

export const textLike = (pattern: RegExp) => z.string().check(z.refine((text) => pattern.test(text)))

export const nonEmpty = z.string().check(z.refine((text) => text !== ''))

/** A safe integer, of at least `least`. */
export const integerFrom = (least: number) =>
  z.number().check(z.refine((value) => Number.isSafeInteger(value) && value >= least))

export const integer = integerFrom(-Infinity)
