import {
  asked,
  discards,
  follows,
  given,
  its,
  leaves,
  noted,
  requested,
  routed,
  settling,
  wakes,
} from './try-on.rows.ts'
import { tryOnSetup } from './try-on.setup.ts'

/** How often a registration is repeated before the form is shown again. */
const registerRepeats = 4

/** The service wants an e-mail address first; a refused one is asked for again, and the form stays in sight. */
export const needsEmail = tryOnSetup.createStateConfig({
  initial: 'asking',
  states: {
    asking: {
      on: {
        submitEmail: { target: 'registering', actions: given('takeForm', 'form') },
        startOver: leaves,
        discard: discards,
      },
    },
    registering: {
      on: { ...noted, ...wakes('register'), startOver: leaves, discard: discards },
      exit: 'forgetWaits',
      invoke: {
        ...requested('register', registerRepeats),
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
        onDone: [{ ...follows, guard: its('stands'), actions: [its('take'), 'forgetForm', 'restartDeadline'] }, routed],
      },
    },
    settling,
  },
})
