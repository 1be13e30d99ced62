import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createWorld, person, product, started, type World } from './support/world.ts'

let world: World
beforeEach(() => void (world = createWorld()))
afterEach(() => world.close())

describe('result()', () => {
  it('resolves at final with the picture', async () => {
    const tryOn = world.room().tryOn(product)
    const result = tryOn.result()
    await tryOn.start(person)
    await world.until(tryOn, 'final')
    expect((await result).imageUrl).toContain('/pictures/')
  })

  it('rejects at a stop with the problem and the job ID', async () => {
    const tryOn = world.room().tryOn({ ...product, variantId: '2003' })
    const result = tryOn.result().catch((error: unknown) => error)
    await tryOn.start(person)
    const view = await world.until(tryOn, 'failed')
    expect(await result).toMatchObject({ kind: 'jobFailed', jobId: view.attempt?.jobId })
    expect(view.attempt?.jobId).toBeTruthy()
  })

  it('waits for a person, unless told not to', async () => {
    const tryOn = await started(world.room().tryOn({ ...product, variantId: '2009' }))
    await world.until(tryOn, 'needsEmail')
    await expect(tryOn.result({ rejectOnInput: true })).rejects.toMatchObject({ kind: 'emailRequired' })
    const waiting = tryOn.result()
    await tryOn.submitEmail({ email: 'ada@example.com' })
    await world.until(tryOn, 'final')
    expect((await waiting).status).toBe('SUCCESS')
  })

  it('of an intent that was just said is that of the new attempt', async () => {
    const tryOn = await started(world.room().tryOn(product))
    const before = await world.until(tryOn, 'final')
    const word = tryOn.retry()
    const result = tryOn.result()
    await word
    const after = await world.until(tryOn, 'final')
    expect(await result).toEqual(after.result)
    expect(after.result).not.toEqual(before.result)
  })

  it('ends by its signal without ending the try-on', async () => {
    const tryOn = await started(world.room().tryOn(product))
    await world.until(tryOn, 'processing')
    const stop = new AbortController()
    const result = tryOn.result({ signal: stop.signal }).catch((error: unknown) => error)
    stop.abort()
    expect(await result).toMatchObject({ problem: { kind: 'stopped', reason: 'aborted' } })
    await world.until(tryOn, 'final')
  })
})
