import { describe, expect, it } from 'vitest'
import { createValue } from '../src/platform/value.ts'

function watched<T>(first: T) {
  const value = createValue(first)
  const heard: T[] = []
  return { value, heard, subscription: value.subscribe((next) => heard.push(next)) }
}

describe('a value', () => {
  it('tells changes only, each with the reference that it keeps', () => {
    const { value, heard } = watched({ count: 0 })
    const one = { count: 1 }
    expect(value.set({ count: 0 })).toBe(false)
    expect(value.set(one)).toBe(true)
    expect(value.set({ count: 1 })).toBe(false)
    expect(heard).toEqual([one])
    expect(value.get()).toBe(one)
  })

  it('is watched until the last subscription has ended', () => {
    const { value, heard, subscription } = watched(0)
    expect(value.isWatched()).toBe(true)
    subscription.unsubscribe()
    value.set(1)
    expect(heard).toEqual([])
    expect(value.isWatched()).toBe(false)
  })

  it('tells nobody who came during a change, nor who left, of that change', () => {
    const value = createValue(0)
    const heard: string[] = []
    value.subscribe(() => {
      leaving.unsubscribe()
      value.subscribe((next) => heard.push(`new ${next}`))
    })
    const leaving = value.subscribe((next) => heard.push(`left ${next}`))
    value.set(1)
    expect(heard).toEqual([])
  })

  it('tells nothing old after what a listener has set', () => {
    const value = createValue(0)
    value.subscribe((next) => value.set(Math.max(next, 2)))
    const heard: number[] = []
    value.subscribe((next) => heard.push(next))
    value.set(1)
    expect(heard).toEqual([2])
  })
})
