import * as z from 'zod/mini'

/**
 * Schemas by what the contract uses of zod anyway: its own lists, tables and loose objects cost a shop more bytes than
 * all that they would check.
 */

const fits = (schema: z.ZodMiniType, value: unknown) => schema.safeParse(value).success

/** A value with all that is in it, where what the schema names fits. */
export const wholeOf = <T>(schema: z.ZodMiniType<T>) => z.custom<T>((value) => fits(schema, value))

/** A list in which everything fits. */
export const listOf = <T>(schema: z.ZodMiniType<T>) =>
  z.custom<T[]>((value) => Array.isArray(value) && value.every((each) => fits(schema, each)))

/** Names, each with a value that fits. */
export const tableOf = <T>(schema: z.ZodMiniType<T>) =>
  z.custom<Record<string, T>>(
    (value) => fits(z.object({}), value) && Object.values(Object(value)).every((each) => fits(schema, each)),
  )
