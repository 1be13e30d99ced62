import { expect, it } from 'vitest'
import { manualClock } from 'fitting-room/testing'
import { TryOnError } from '../src/rules/try-on-error.ts'
import { createAsks, type Ask } from '../src/try-on/asks.ts'

function asking() {
  const posted: Ask[] = []
  const clock = manualClock()
  const asks = createAsks({
    clock: { ...clock, elapsed: clock.monotonic },
    post: (message) => void posted.push(message as Ask),
    refusal: (problem) => new TryOnError(problem),
  })
  const ask = (id: string, call: Ask['call'] = { intent: 'resume' }): Ask => ({
    type: 'ask',
    name: 'record',
    place: 'record',
    id,
    call,
    seenAttempt: null,
  })
  return { asks, ask, clock, posted }
}

it('what was passed on, and may not have been taken, is passed on again before what is said after it', () => {
  const { asks, ask, posted } = asking()
  void asks.answerTo(ask('one'), true, () => {})
  void asks.answerTo(ask('another', { intent: 'startOver' }), true, () => {})
  expect(posted.map(({ id }) => id)).toEqual(['one', 'one', 'another'])
})

it('what is passed on again may be heard no later than what was passed on first, and not just before it is refused', async () => {
  const { asks, ask, clock, posted } = asking()
  const refused = expect(asks.answerTo(ask('one'), true, () => {})).rejects.toMatchObject({ kind: 'stopped' })
  clock.advance(20_000)
  asks.passAll()
  clock.advance(6_000)
  asks.passAll()
  expect(posted.map(({ inMs }) => inMs)).toEqual([25_000, 5_000])
  clock.advance(4_000)
  await refused
})
