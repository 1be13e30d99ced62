import { describe, expect, expectTypeOf, it } from 'vitest'
import * as is from '../src/contract/schema.ts'

const person = is.object({
  name: is.nonEmpty,
  age: is.nullish(is.integerFrom(0)),
  tags: is.optional(is.listOf(is.text)),
})

describe('a schema', () => {
  it('reads the fields that it names, and leaves out the others', () => {
    expect(person.safeParse({ name: 'Ada', age: null, more: 1 })).toEqual({
      success: true,
      data: { name: 'Ada', age: null },
    })
    expect(Object.keys(person.safeParse({ name: 'Ada' }).data ?? {})).toEqual(['name'])
  })

  it('has a type in which what may be absent is optional', () => {
    expectTypeOf<is.TypeOf<typeof person>>().toEqualTypeOf<{
      name: string
      age?: number | null | undefined
      tags?: string[] | undefined
    }>()
  })

  it.each([
    [{ name: '' }, 'name'],
    [{ name: 'Ada', age: -1 }, 'age'],
    [{ name: 'Ada', age: 0.5, tags: 1 }, 'age'],
    [{ name: 'Ada', tags: ['a', 1] }, 'tags'],
    [null, ''],
    ['Ada', ''],
  ])('says of %j the path of the first field that does not fit', (value, path) => {
    expect(person.safeParse(value)).toEqual({ success: false, path })
  })

  it('says the whole path of what lies deeper', () => {
    expect(is.object({ of: person }).safeParse({ of: { name: 1 } })).toEqual({ success: false, path: 'of.name' })
  })

  it('takes none of the numbers that JSON cannot say', () => {
    for (const value of [NaN, Infinity, '1', null]) expect(is.number.safeParse(value).success).toBe(false)
    for (const value of [1.5, 2 ** 53]) expect(is.integer.safeParse(value).success).toBe(false)
  })

  it('of a table takes no list', () => {
    expect(is.tableOf(is.number).safeParse({ a: 1 }).success).toBe(true)
    expect(is.tableOf(is.number).safeParse({ a: '1' }).success).toBe(false)
    expect(is.tableOf(is.number).safeParse([1]).success).toBe(false)
    // what is looked up under such a name is there in every object
    for (const text of ['{"constructor":1}', '{"__proto__":1}'])
      expect(is.tableOf(is.number).safeParse(JSON.parse(text)).success).toBe(false)
  })

  it('of a value with all that is in it keeps what it does not name', () => {
    const whole = is.wholeOf(is.object({ name: is.text }))
    expect(whole.safeParse({ name: 'Ada', more: 1 }).data).toEqual({ name: 'Ada', more: 1 })
    expect(whole.safeParse({ more: 1 }).success).toBe(false)
  })

  it('of several forms looks at the one that the field names', () => {
    const forms = is.toldApart(
      'kind',
      is.object({ kind: is.oneOf('a', 'b'), n: is.integer }),
      is.object({ kind: is.oneOf('c') }),
    )
    expect(forms.safeParse({ kind: 'c', n: 1 }).data).toEqual({ kind: 'c' })
    expect(forms.safeParse({ kind: 'b', n: '1' })).toEqual({ success: false, path: 'n' })
    expect(forms.safeParse({ kind: 'd' })).toEqual({ success: false, path: 'kind' })
    expect(forms.safeParse(1)).toEqual({ success: false, path: '' })
  })
})
