// a library for every kind of value would cost each shop 5 kB for these few

/** What a schema reads of a value: the fields that it names, or the path of the first that does not fit. */
export type Read<T> = { success: true; data: T; path?: undefined } | { success: false; data?: undefined; path: string }

/** What a value must be. */
export interface Schema<T> {
  safeParse(value: unknown): Read<T>
}

/** The type of what a schema reads. */
export type TypeOf<S> = S extends Schema<infer T> ? T : never

type Shape = Readonly<Record<string, Schema<unknown>>>
type OptionalIn<S extends Shape> = { [Name in keyof S]: undefined extends TypeOf<S[Name]> ? Name : never }[keyof S]
type Flat<T> = { [Name in keyof T]: T[Name] }
type ObjectOf<S extends Shape> = Flat<
  { [Name in Exclude<keyof S, OptionalIn<S>>]: TypeOf<S[Name]> } & { [Name in OptionalIn<S>]?: TypeOf<S[Name]> }
>

/** An object's schema, with those of its fields. */
export interface ObjectSchema<T> extends Schema<T> {
  readonly shape: Shape
}

const misfit = (path = '') => ({ success: false, path }) as const

/** A value that is taken as it is where it fits. */
export const that = <T>(fits: (value: unknown) => boolean): Schema<T> => ({
  safeParse: (value) => (fits(value) ? { success: true, data: value as T } : misfit()),
})

export const text = that<string>((value) => typeof value === 'string')
export const nonEmpty = that<string>((value) => typeof value === 'string' && value !== '')
export const textLike = (pattern: RegExp) => that<string>((value) => typeof value === 'string' && pattern.test(value))

export const number = that<number>(Number.isFinite)
export const integer = that<number>(Number.isSafeInteger)
export const integerFrom = (least: number) =>
  that<number>((value) => Number.isSafeInteger(value) && Number(value) >= least)

export const boolean = that<boolean>((value) => typeof value === 'boolean')

export const oneOf = <const T>(...values: readonly T[]) => that<T>((value) => values.some((each) => each === value))

const absent = <T, None extends null | undefined>(schema: Schema<T>, ...none: None[]): Schema<T | None> => ({
  safeParse: (value) =>
    none.some((each) => each === value) ? { success: true, data: value as None } : schema.safeParse(value),
})
export const optional = <T>(schema: Schema<T>) => absent(schema, undefined)
export const nullable = <T>(schema: Schema<T>) => absent(schema, null)
export const nullish = <T>(schema: Schema<T>) => absent(schema, null, undefined)

const fits = (schema: Schema<unknown>, value: unknown) => schema.safeParse(value).success

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** What an object has under one name. */
export const field = <T>(name: string, schema: Schema<T>): Schema<T> => ({
  safeParse(value) {
    if (!isObject(value)) return misfit()
    const read = schema.safeParse(value[name])
    return read.success ? read : misfit([name, read.path].filter(Boolean).join('.'))
  },
})

/** An object of these fields; others are left out. */
export const object = <const S extends Shape>(shape: S): ObjectSchema<ObjectOf<S>> => {
  const fields = Object.entries(shape).map(([name, schema]) => ({ name, schema: field(name, schema) }))
  return {
    shape,
    safeParse(value) {
      if (!isObject(value)) return misfit()
      const data: Record<string, unknown> = {}
      for (const { name, schema } of fields) {
        const read = schema.safeParse(value)
        if (!read.success) return read
        if (name in value) data[name] = read.data
      }
      return { success: true, data: data as ObjectOf<S> }
    },
  }
}

/** One of several objects, told apart by a field. */
export const toldApart = <const Forms extends readonly ObjectSchema<unknown>[]>(
  name: string,
  ...forms: Forms
): Schema<TypeOf<Forms[number]>> => ({
  safeParse(value) {
    const form = forms.find(({ shape }) => shape[name] && fits(field(name, shape[name]), value))
    const read = form?.safeParse(value) as Read<TypeOf<Forms[number]>> | undefined
    return read ?? misfit(isObject(value) ? name : '')
  },
})

/** A value with all that is in it, where what the schema names fits. */
export const wholeOf = <T>(schema: Schema<T>) => that<T>((value) => fits(schema, value))

/** A list in which everything fits. */
export const listOf = <T>(schema: Schema<T>) =>
  that<T[]>((value) => Array.isArray(value) && value.every((each) => fits(schema, each)))

/** Names, each with a value that fits. */
export const tableOf = <T>(schema: Schema<T>) =>
  that<Record<string, T>>(
    (value) =>
      isObject(value) &&
      !Array.isArray(value) &&
      // what every object has under such a name is none of these
      Object.entries(value).every(([name, each]) => !(name in Object.prototype) && fits(schema, each)),
  )
