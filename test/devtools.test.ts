import { expect, it } from 'vitest'
import { createLog } from '../adapters/devtools/log.ts'

it('the way of a try-on shows once what goes round, however often its job is looked at', () => {
  const log = createLog()
  const hear = (type: string, ...states: string[]) =>
    log.heard({ type, states, state: 'processing', nextAt: null, productId: '1001', variantId: '2001' })
  hear('start', 'preparing')
  hear('done', 'submitting')
  for (let look = 0; look < 100; look += 1) {
    hear('time', 'following.looking')
    hear('answer', 'following.waiting')
  }
  expect(log.followed()[0]!.steps.map(({ type }) => type)).toEqual(['start', 'done', 'time', 'answer'])
  hear('answer', 'final')
  expect(
    log
      .followed()[0]!
      .steps.map(({ states }) => states)
      .slice(-2),
  ).toEqual(['following.waiting', 'final'])
})
