import { assign } from 'xstate'
import { asked, begins, discards, its, leaves, requested, settling } from './try-on.rows.ts'
import { tryOnSetup } from './try-on.setup.ts'

const stops = { target: '#tryOn.preparing.settling', actions: its('takeRefusal') } as const

/** Consented: the consent is written down, then funnel, photo and visitor are seen to side by side. */
export const preparing = tryOnSetup.createStateConfig({
  initial: 'consenting',
  exit: 'stopWaiting',
  states: {
    consenting: {
      tags: 'busy',
      invoke: {
        ...asked('consent'),
        onDone: { target: '#tryOn.routing', actions: [its('take'), 'countDeadline'] },
      },
    },
    gathering: {
      type: 'parallel',
      on: {
        start: begins,
        startOver: leaves,
        discard: discards,
        uploaded: { actions: assign({ upload: ({ event }) => event.progress }) },
      },
      onDone: [{ guard: 'isEmailNeeded', target: 'settling' }, { target: '#tryOn.submitting' }],
      states: {
        funnel: {
          initial: 'asking',
          states: {
            asking: {
              invoke: {
                ...requested('lookUpFunnel'),
                onDone: [{ guard: its('isAccepted'), target: 'known', actions: its('takeFunnel') }, stops],
              },
            },
            known: { type: 'final' },
          },
        },
        photo: {
          initial: 'uploading',
          states: {
            uploading: {
              invoke: {
                ...requested('uploadPhoto'),
                onDone: [{ guard: its('isAccepted'), target: 'uploaded', actions: its('takePhoto') }, stops],
                /** The bytes are gone, so the shopper is asked again. */
                onError: {
                  target: '#tryOn.leaving',
                  actions: { type: 'takeProblem', params: { kind: 'photo', reason: 'missing' } },
                },
              },
            },
            uploaded: { type: 'final' },
          },
        },
        visitor: {
          initial: 'choosing',
          states: {
            choosing: { always: [{ guard: 'asksVisitor', target: 'asking' }, { target: 'known' }] },
            asking: {
              invoke: {
                /** It may create a visitor, so an unknown outcome is not repeated. */
                ...requested('askVisitor', 0),
                onDone: { target: 'known', actions: its('takeVisitor') },
              },
            },
            known: { type: 'final' },
          },
        },
      },
    },
    settling,
  },
})
