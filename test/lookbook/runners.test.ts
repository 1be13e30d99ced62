import type { PostgresQueries, RunnerEntry } from 'fitting-room/runner'
import { expect, it, vi } from 'vitest'
import { photo, tee, testTee, onEachDatabase } from './on-each-database.ts'

onEachDatabase('a runner', (world) => {
  const { open, sent } = world

  it('carries many out, each once, and asks for a funnel and an upload once', async () => {
    const runner = await open()
    for (let nth = 0; nth < 8; nth += 1) await runner.add({ id: `look-${nth}`, product: tee, photo })
    await runner.run()
    await runner.settled()
    const entries = await runner.list()
    expect(entries.map(({ id, state, isEnded }) => [id, state, isEnded])).toEqual(
      Array.from({ length: 8 }, (__, nth) => [`look-${nth}`, 'final', true]),
    )
    expect(new Set(entries.map(({ result }) => result?.imageUrl)).size).toBe(8)
    expect([world.sandbox.ledger.accepted, sent('GET /funnel'), sent('POST /uploads')]).toEqual([8, 1, 1])
  })

  it('takes no photo that is advised against, by itself or by the application, unless it is told to', async () => {
    const runner = await open({ photos: {} })
    const small = await runner.add({ id: 'small', product: tee, photo }).catch(({ problem }) => problem)
    expect(small).toMatchObject({ kind: 'photoAdvice', advice: 'small' })
    const other = await open({ checkPhoto: () => 'no drawings' })
    const own = await other.add({ id: 'own', product: tee, photo }).catch(({ problem }) => problem)
    expect(own).toMatchObject({ kind: 'photoAdvice', advice: 'own', message: 'no drawings' })
    expect(await runner.list()).toEqual([])
    await runner.add({ id: 'told', product: tee, photo, despiteAdvice: true })
    expect(await runner.list()).toMatchObject([{ id: 'told' }])
  })

  it('keeps no place from others for what waits for a photo that cannot be uploaded', async () => {
    const runner = await open({ putPhoto: async () => Promise.reject(new Error('no way there')) })
    const imageUrl = 'https://shop.test/person.png'
    for (const nth of [1, 2, 3]) await runner.add({ id: `held-${nth}`, product: tee, photo })
    await runner.add({ id: 'free', product: tee, photo: { imageUrl } })
    await runner.run({ atOnce: 2 })
    await vi.waitUntil(async () => (await runner.get('free'))?.isEnded, { timeout: 120_000, interval: 20 })
    expect((await runner.list()).filter(({ isEnded }) => isEnded).map(({ id }) => id)).toEqual(['free'])
  })

  it('takes the same id for the same try-on, whichever process says it, and for no other one', async () => {
    const [one, other] = [await open(), await open()]
    await one.run()
    const order = { id: 'look', product: tee, photo }
    await Promise.all([one.add(order), other.add(order), one.add(order)])
    await one.settled()
    expect(await other.add(order)).toMatchObject({ state: 'final', isEnded: true })
    await expect(other.add({ ...order, product: testTee('9002') })).rejects.toMatchObject({
      problem: { kind: 'input', at: 'id' },
    })
    expect(world.sandbox.ledger.accepted).toBe(1)
  })

  it('says at once what is wrong with what it is given', async () => {
    const runner = await open()
    const kindOf = (order: object) =>
      runner.add({ id: 'look', product: tee, photo, ...order }).catch((error: { problem: object }) => error.problem)
    expect(await kindOf({ id: '' })).toMatchObject({ kind: 'input', at: 'id' })
    expect(await kindOf({ id: 'a\0b' })).toMatchObject({ kind: 'input', at: 'id' })
    expect(await kindOf({ product: { ...tee, variantId: 'x' } })).toMatchObject({ kind: 'input', at: 'variantId' })
    expect(await kindOf({ photo: { bytes: new Uint8Array([1, 2]) } })).toMatchObject({ kind: 'photo', reason: 'type' })
    await expect(runner.retry('nobody')).rejects.toMatchObject({ problem: { kind: 'input', at: 'id' } })
    expect(await runner.list()).toEqual([])
  })

  it('tells every process of each state once', async () => {
    const [worker, watcher] = [await open(), await open({ clock: world.clockOf(100) })]
    const heard: RunnerEntry[] = []
    watcher.on((entry) => heard.push(entry))
    await worker.add({ id: 'look', product: tee, photo })
    await worker.run()
    await vi.waitUntil(() => heard.at(-1)?.isEnded, { timeout: 120_000, interval: 20 })
    await watcher.close()
    expect(heard.at(-1)).toMatchObject({ id: 'look', state: 'final' })
    expect(new Set(heard.map(({ state }) => state)).size).toBe(heard.length)
  })

  it('tells what has failed, and tries it again where it is told to, as another submission', async () => {
    const runner = await open()
    await runner.run()
    await runner.add({ id: 'look', product: testTee('9001'), photo })
    await runner.settled()
    expect(await runner.get('look')).toMatchObject({ state: 'failed', isEnded: true, problem: { kind: 'jobFailed' } })
    await runner.retry('look')
    await runner.settled()
    expect(await runner.get('look')).toMatchObject({ state: 'failed', isEnded: true })
    expect(world.sandbox.ledger.accepted).toBe(2)
  })

  it('takes a word that names what was seen for that alone, however often it comes', async () => {
    const runner = await open()
    await runner.run()
    const { id } = await runner.add({ id: 'look', product: testTee('9001'), photo })
    await runner.settled()
    const seen = (await runner.get(id))!
    await runner.retry(seen)
    for (const intent of ['retry', 'forget'] as const)
      await expect(runner[intent](seen)).rejects.toMatchObject({ kind: 'notAllowed' })
    await runner.settled()
    for (const intent of ['retry', 'forget'] as const)
      await expect(runner[intent](seen)).rejects.toMatchObject({ kind: 'notAllowed' })
    expect(world.sandbox.ledger.accepted).toBe(2)
    await runner.forget((await runner.get(id))!)
    expect(await runner.get(id)).toBeNull()
  })

  it('sends nothing again of which nobody knows what has become', async () => {
    const runner = await open()
    await runner.run()
    await runner.add({ id: 'look', product: testTee('9004'), photo })
    await runner.settled()
    expect(await runner.get('look')).toMatchObject({ state: 'outcomeUnknown', problem: { kind: 'outcomeUnknown' } })
    expect(sent('POST /generations')).toBe(1)
  })

  it('keeps no place for one that waits', async () => {
    const runner = await open({ timing: { deadlineMs: 2_000 } })
    await runner.run({ atOnce: 1 })
    await runner.add({ id: 'never', product: testTee('9012'), photo })
    await runner.add({ id: 'look', product: tee, photo })
    await vi.waitUntil(async () => (await runner.get('look'))?.isEnded, { timeout: 120_000, interval: 50 })
    expect(await runner.get('never')).toMatchObject({ state: 'stalled', isEnded: false })
  })

  it('says what is wrong with its options, and with what it is asked for', async () => {
    for (const [at, options] of Object.entries({
      baseUrl: { baseUrl: 'nonsense' },
      customerEmail: { customerEmail: 'x@' },
      name: { name: 'a; drop table b' },
      database: { database: {} as PostgresQueries },
      'timing.requestTimeoutMs': { timing: { requestTimeoutMs: -5 } },
    }))
      await expect(open(options)).rejects.toMatchObject({ problem: { kind: 'input', at } })
    const runner = await open()
    await expect(runner.run({ atOnce: 0 })).rejects.toMatchObject({ problem: { kind: 'input', at: 'atOnce' } })
    await expect(runner.get('a\0b')).rejects.toMatchObject({ problem: { kind: 'input', at: 'id' } })
    await runner.run()
    await expect(runner.run()).rejects.toThrow('runs already')
    await runner.close()
    await expect(runner.add({ id: 'look', product: tee, photo })).rejects.toThrow('closed')
  })
})
