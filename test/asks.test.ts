import { expect, it } from 'vitest'
import { manualClock } from 'fitting-room/testing'
import { TryOnError } from '../src/rules/try-on-error.ts'
import { createAsks, type Ask } from '../src/try-on/asks.ts'

it('what was passed on, and may not have been taken, is passed on again before what is said after it', () => {
  const posted: string[] = []
  const asks = createAsks({
    clock: { ...manualClock(), elapsed: () => 0 },
    post: (message) => posted.push((message as Ask).id),
    refusal: (problem) => new TryOnError(problem),
  })
  const ask = (id: string, call: Ask['call']): Ask => ({
    type: 'ask',
    name: 'record',
    place: 'record',
    id,
    call,
    seenAttempt: null,
  })
  void asks.answerTo(ask('one', { intent: 'resume' }), true, () => {})
  void asks.answerTo(ask('another', { intent: 'startOver' }), true, () => {})
  expect(posted).toEqual(['one', 'one', 'another'])
})
