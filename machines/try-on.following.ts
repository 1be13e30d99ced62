import { asked, discards, its, leaves, routed } from './try-on.rows.ts'
import { tryOnSetup } from './try-on.setup.ts'

/** A job is known: it is polled, and its estimated progress is shown. */
export const following = tryOnSetup.createStateConfig({
  type: 'parallel',
  entry: 'lookAtClock',
  exit: 'forgetWaits',
  on: { startOver: leaves, discard: discards },
  states: {
    poll: {
      initial: 'choosing',
      states: {
        choosing: {
          always: [{ guard: 'isFresh', target: 'waiting', actions: 'planFirstPoll' }, { target: 'polling' }],
        },
        polling: {
          invoke: {
            ...asked('poll'),
            onDone: [
              { ...routed, guard: its('isSettled') },
              { guard: its('isPastDeadline'), target: '#tryOn.stalled', actions: its('take') },
              { guard: its('isPutOff'), target: 'putOff', actions: [its('take'), its('planPoll')] },
              { target: 'waiting', actions: [its('take'), its('planPoll')] },
            ],
          },
        },
        putOff: { exit: 'endWait', after: { deadline: '#tryOn.stalled' } },
        waiting: {
          exit: 'endWait',
          after: { wait: 'polling' },
          on: { wake: { guard: 'mayPollNow', target: 'polling' } },
        },
      },
    },
    clock: {
      initial: 'ticking',
      states: { ticking: { after: { tick: { target: 'ticking', reenter: true, actions: 'lookAtClock' } } } },
    },
  },
})
