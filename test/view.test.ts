import { restoringView, tryOnMachine, tryOnView } from 'fitting-room/machines'
import { createActor } from 'xstate'
import { describe, expect, it } from 'vitest'
import { steadyClock } from '../src/platform/clock.ts'
import type { AttemptRecord } from '../src/rules/record.ts'
import { manualClock } from 'fitting-room/testing'

const input = {
  clock: steadyClock(manualClock()),
  nextLookMs: () => 1,
  deadlineMs: 1,
  askVisitorFirst: false,
  exclusive: true,
  archived: false,
}
const { context } = createActor(tryOnMachine, { input }).getSnapshot()
const record: AttemptRecord = {
  version: 1,
  savedAt: 0,
  attemptId: 'a',
  startedAt: 0,
  phase: 'final',
  productId: '1',
  variantId: '2',
  funnelIds: [1],
  photo: { id: 'p' },
}
type Value = Parameters<typeof tryOnMachine.resolveState>[0]['value']
const viewOf = (value: Value, kept: AttemptRecord | null) =>
  tryOnView(tryOnMachine.resolveState({ value, context: { ...context, record: kept } }))

describe('a view', () => {
  it('of what passes by between two states is the restoring one', () => {
    for (const value of ['leaving', 'discarding'] as const) expect(viewOf(value, record)).toBe(restoringView)
  })

  it('shows no picture where the record lacks the one that its phase promises', () => {
    const problem = { kind: 'recordUnreadable' }
    expect(viewOf('final', record)).toMatchObject({ state: 'protocolError', problem, result: null })
    expect(viewOf('following', { ...record, phase: 'preview' })).toMatchObject({ state: 'processing', preview: null })
  })

  it('of a stop always has a problem', () => {
    expect(viewOf('stalled', record).problem).toEqual({ kind: 'consentExpired' })
    const job = { jobId: '7f9c24e8-3b12-4fef-91e0-56c0a8a7a7d1', etaSeconds: 40, acceptedAt: 0 }
    expect(viewOf('stalled', { ...record, phase: 'accepted', job }).problem).toEqual({ kind: 'deadline' })
    expect(viewOf('outcomeUnknown', record).problem).toEqual({ kind: 'interrupted' })
    expect(viewOf('failed', record).problem).toEqual({ kind: 'recordUnreadable' })
    expect(viewOf('limitReached', record)).toMatchObject({ message: '', problem: { kind: 'recordUnreadable' } })
  })
})
