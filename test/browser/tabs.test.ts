import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { createFittingRoom, type FittingRoom, type TryOn } from 'fitting-room'
import photoUrl from '../../examples/sample/person.png'

/** Rooms of one page stand for tabs here: they share locks, storage and channel exactly as tabs do. */
const product = { productId: '1001', variantId: '2001', funnelIds: [11] }
let namespace: string
let tabs: FittingRoom[]
let sent: string[]
let photo: Blob

beforeEach(async () => {
  namespace = crypto.randomUUID()
  tabs = []
  sent = []
  photo = await (await fetch(photoUrl)).blob()
})
afterEach(async () => {
  for (const tab of tabs) tab.close()
})

/** `polls` is false for a tab whose polls never get an answer. */
function openTab({ polls = true } = {}): FittingRoom {
  const index = tabs.length
  const room = createFittingRoom({
    baseUrl: inject('baseUrl'),
    apiKey: 'sandbox-key',
    namespace,
    timing: { pollIntervalMs: 400 },
    fetch: async (input, init) => {
      const name = `${init?.method} ${new URL(String(input)).pathname.split('/')[1]}`
      sent.push(`${index} ${name}`)
      if (!polls && name === 'GET generations') return new Promise(() => {})
      const answer = await fetch(input, init)
      // the service counts the requests of all tests together: what it did not take is sent again
      if (answer.status === 429) sent.splice(sent.indexOf(`${index} ${name}`), 1)
      return answer
    },
  })
  tabs.push(room)
  return room
}
const watch = (room: FittingRoom, variantId = '2001'): TryOn => {
  const tryOn = room.tryOn({ ...product, variantId })
  tryOn.subscribe(() => {})
  return tryOn
}
const states = (of: TryOn[]) => () => of.map((tryOn) => tryOn.get().state)
const count = (method: string, path: string) => sent.filter((each) => each.endsWith(`${method} ${path}`)).length

describe.each([2, 5])('%i tabs on one try-on', (number) => {
  it('send one POST, have one poller and show the same view', async () => {
    const tryOns = Array.from({ length: number }, () => watch(openTab()))
    await expect.poll(states(tryOns)).toEqual(tryOns.map(() => 'idle'))
    await tryOns.at(-1)?.start(photo)
    await expect.poll(states(tryOns)).toEqual(tryOns.map(() => 'final'))
    expect(count('POST', 'generations')).toBe(1)
    expect(new Set(sent.map((each) => each.split(' ')[0])).size).toBe(1)
    const [first, ...others] = tryOns.map((tryOn) => JSON.stringify(tryOn.get()))
    for (const other of others) expect(other).toBe(first)
  })
})

describe('intents from a tab that is not the owner', () => {
  it('are carried out by the owner, and refused as it would refuse them', async () => {
    const [owner, other] = [watch(openTab()), watch(openTab())] as const
    await expect.poll(states([owner, other])).toEqual(['idle', 'idle'])
    await owner.ready
    await expect(other.resume()).rejects.toMatchObject({ kind: 'notAllowed' })
    await expect(other.start(new Blob(['no picture']))).rejects.toMatchObject({ kind: 'photo' })
    await other.start(photo)
    await other.result()
    await other.startOver()
    await expect.poll(states([owner, other])).toEqual(['idle', 'idle'])
  })

  it('submit nothing when they are stale or repeated', async () => {
    const [owner, other] = [watch(openTab()), watch(openTab())] as const
    await expect.poll(states([owner, other])).toEqual(['idle', 'idle'])
    await owner.ready
    const wire = new BroadcastChannel(await channelName())
    const heard: any[] = []
    wire.onmessage = ({ data }) => heard.push(data)
    await other.start(photo)
    await other.result()
    const asked = heard.find(({ message }) => message.type === 'ask')
    const stale = { ...asked.message, id: 'stale', call: { ...asked.message.call, attemptId: 'stale' } }
    wire.postMessage(asked)
    wire.postMessage({ ...asked, message: stale })
    const answer = () => heard.map(({ message }) => message).find(({ type, id }) => type === 'answer' && id === 'stale')
    await expect.poll(answer).toMatchObject({ problem: { kind: 'notAllowed' } })
    expect(owner.get().state).toBe('final')
    expect(count('POST', 'generations')).toBe(1)
    wire.close()
  })
})

const channelName = async () => {
  const { held = [] } = await navigator.locks.query()
  const name = held.find((lock) => lock.name?.includes(namespace))?.name ?? ''
  // of the installation and namespace, whoever the visitor is
  return name.split(':').slice(0, 3).join(':')
}

describe('the owner goes', () => {
  it('and another tab goes on with the same job', async () => {
    const owner = watch(openTab({ polls: false }))
    await expect.poll(states([owner])).toEqual(['idle'])
    const other = watch(openTab())
    await expect.poll(states([other])).toEqual(['idle'])
    await owner.start(photo)
    await expect.poll(states([other])).toEqual(['processing'])
    const job = other.get().attempt?.jobId
    tabs[0]?.close()
    await expect.poll(states([other])).toEqual(['final'])
    expect(other.get().attempt?.jobId).toBe(job)
    expect(count('POST', 'generations')).toBe(1)
    expect(sent.some((each) => each.startsWith('1 GET generations'))).toBe(true)
  })

  it('while its submission is out: the other tab submits nothing by itself', async () => {
    const [owner, other] = [watch(openTab()), watch(openTab())] as const
    await expect.poll(states([owner, other])).toEqual(['idle', 'idle'])
    void owner.start(photo)
    await expect.poll(() => count('POST', 'generations')).toBe(1)
    tabs[0]?.close()
    const after = ['outcomeUnknown', 'processing', 'preview', 'final']
    await expect.poll(() => after.includes(other.get().state)).toBe(true)
    expect(count('POST', 'generations')).toBe(1)
  })
})

it('tabs with different try-ons do not disturb each other', async () => {
  const [one, two] = [watch(openTab()), watch(openTab(), '2002')] as const
  await expect.poll(states([one, two])).toEqual(['idle', 'idle'])
  await one.start(photo)
  await one.result()
  expect(two.get().state).toBe('idle')
})

it('reset() reaches all tabs', async () => {
  const [owner, other] = [watch(openTab()), watch(openTab())] as const
  await expect.poll(states([owner, other])).toEqual(['idle', 'idle'])
  await owner.start(photo)
  await owner.result()
  await expect.poll(states([other])).toEqual(['final'])
  await tabs[1]?.reset()
  await expect.poll(states([owner, other])).toEqual(['idle', 'idle'])
  expect(tabs.map((tab) => tab.photo.get())).toEqual([null, null])
})
