import { asked, discards, its, learns, leaves, renewing, routed } from './try-on.rows.ts'
import { tryOnSetup } from './try-on.setup.ts'

const waits = { guard: its('mayWait'), target: 'waiting', actions: its('take') } as const

/** The one paid request: claimed before it is sent, and sent once. */
export const submitting = tryOnSetup.createStateConfig({
  initial: 'probing',
  exit: 'forgetWaits',
  states: {
    renewing,
    /** Nothing is out yet. */
    probing: {
      on: { startOver: leaves, discard: discards },
      invoke: {
        ...asked('probe'),
        onDone: [
          /** A page may have slept meanwhile. */
          { guard: its('isUnchangedTooLate'), target: '#tryOn.stalled' },
          { guard: its('isUnchanged'), target: 'claiming' },
          waits,
          routed,
        ],
      },
    },
    claiming: {
      tags: 'busy',
      invoke: {
        ...asked('claim'),
        onDone: [{ guard: its('isClaimed'), target: 'sending', actions: its('take') }, routed],
      },
    },
    sending: {
      on: { discard: discards },
      invoke: {
        ...asked('submit'),
        onDone: [{ ...routed, guard: its('isJob'), actions: [its('take'), 'startJob'] }, waits, routed],
      },
    },
    waiting: {
      entry: 'planSubmission',
      exit: 'endWait',
      after: { wait: 'probing' },
      on: { ...learns, wake: { guard: 'wasNotSent', target: 'probing' }, startOver: leaves, discard: discards },
    },
  },
})
