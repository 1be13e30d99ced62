import { expect, it } from 'vitest'
import { manualClock } from 'fitting-room/testing'
import type { TabMessage } from '../src/pages/tabs.ts'
import { TryOnError } from '../src/rules/try-on-error.ts'
import { createAsks, type Ask } from '../src/try-on/asks.ts'

function asking() {
  const posted: TabMessage[] = []
  const clock = manualClock()
  const asks = createAsks({
    clock,
    post: (message) => void posted.push(message),
    refusal: (problem) => new TryOnError(problem),
  })
  const where = { name: 'record', place: 'record' }
  const ask = (id: string, call: Ask['call'] = { intent: 'resume' }): Ask => ({
    type: 'ask',
    ...where,
    id,
    call,
    seenAttempt: null,
  })
  const said = () => posted.splice(0).map((message) => [message.type, 'id' in message && message.id])
  return { asks, ask, clock, said }
}

it('what was asked for, and may not have been heard, is asked for again before what is said after it', () => {
  const { asks, ask, said } = asking()
  void asks.answerTo(ask('one'), true, () => {})
  void asks.answerTo(ask('another', { intent: 'startOver' }), true, () => {})
  expect(said()).toEqual([
    ['knock', 'one'],
    ['knock', 'one'],
    ['knock', 'another'],
  ])
})

it('nothing is passed on before the page that runs the flow says that it would carry it out, nor once its shopper was told that nobody does', async () => {
  const { asks, ask, clock, said } = asking()
  const word = ask('one')
  const refused = expect(asks.answerTo(word, true, () => {}).finally(() => asks.drop(word))).rejects.toMatchObject({
    problem: { kind: 'stopped', reason: 'unanswered' },
  })
  clock.advance(30_000)
  await refused
  asks.pass({ id: 'one', turn: 'turn', by: 'owner' })
  asks.knock()
  expect(said()).toEqual([['knock', 'one']])
})

it('what is too old by the time at which it would be passed on is not', async () => {
  const { asks, ask, said } = asking()
  const answer = asks.answerTo(ask('one'), true, () => {
    throw new TryOnError({ kind: 'consentExpired' })
  })
  asks.pass({ id: 'one', turn: 'turn', by: 'owner' })
  await expect(answer).rejects.toMatchObject({ kind: 'consentExpired' })
  expect(said()).toEqual([['knock', 'one']])
})

it('what was said later is passed on to nobody who has not been passed what was said before', () => {
  const { asks, ask, said } = asking()
  const come = (id: string, by: string) => asks.pass({ id, turn: 'turn', by })
  void asks.answerTo(ask('start'), false, () => {})
  void asks.answerTo(ask('startOver', { intent: 'startOver' }), false, () => {})
  come('start', 'one')
  come('startOver', 'one')
  expect(said()).toEqual([
    ['ask', 'start'],
    ['ask', 'startOver'],
  ])
  // one that has just taken over has heard of the later one only
  come('startOver', 'other')
  expect(said()).toEqual([
    ['knock', 'start'],
    ['knock', 'startOver'],
  ])
  come('startOver', 'other')
  expect(said()).toEqual([])
  come('start', 'other')
  come('startOver', 'other')
  expect(said()).toEqual([
    ['ask', 'start'],
    ['ask', 'startOver'],
  ])
})
