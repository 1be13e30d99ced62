import { asked, discards, its, leaves, routed } from './try-on.rows.ts'
import { tryOnSetup } from './try-on.setup.ts'

/** The one paid request: claimed before it is sent, and sent once. */
export const submitting = tryOnSetup.createStateConfig({
  initial: 'probing',
  states: {
    /** Nothing is out yet. */
    probing: {
      on: { startOver: leaves, discard: discards },
      invoke: { ...asked('probe'), onDone: [{ guard: its('isUnchanged'), target: 'claiming' }, routed] },
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
        onError: '#tryOn.routing',
        onDone: [{ ...routed, guard: its('isJob'), actions: [its('take'), 'countDeadline'] }, routed],
      },
    },
    waiting: {
      entry: 'planSubmission',
      exit: 'stopWaiting',
      after: { wait: 'probing' },
      on: { wake: { guard: 'wasNotSent', target: 'probing' }, startOver: leaves, discard: discards },
    },
  },
})
