import { asked, discards, goesOn, its, leaves, requested, routed, settling } from './try-on.rows.ts'
import { tryOnSetup } from './try-on.setup.ts'

/** The service wants an e-mail address first; a refused one is asked for again, and the form stays in sight. */
export const needsEmail = tryOnSetup.createStateConfig({
  initial: 'asking',
  states: {
    asking: {
      on: { submitEmail: { target: 'registering', actions: 'takeForm' }, startOver: leaves, discard: discards },
    },
    registering: {
      on: { startOver: leaves, discard: discards },
      exit: 'stopWaiting',
      invoke: {
        ...requested('register'),
        onDone: [
          { guard: its('isAccepted'), target: 'registered' },
          { target: 'settling', actions: its('takeRefusal') },
        ],
      },
    },
    registered: {
      tags: 'busy',
      invoke: {
        ...asked('writeRegistration'),
        onDone: [{ ...goesOn, guard: its('stands'), actions: [its('take'), 'forgetForm', 'restartDeadline'] }, routed],
      },
    },
    settling,
  },
})
