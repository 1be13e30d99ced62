import { assign } from 'xstate'
import { begins, breaks, discards, leaves, reading } from './try-on.rows.ts'
import { tryOnSetup } from './try-on.setup.ts'

/** Consented: the consent is written down, then funnel, photo and visitor are seen to side by side. */
export const preparing = tryOnSetup.createStateConfig({
  initial: 'consenting',
  exit: 'stopWaiting',
  states: {
    consenting: {
      tags: 'busy',
      invoke: {
        src: 'consent',
        onError: breaks,
        input: ({ context }) => context,
        onDone: [
          { guard: { type: 'isGone', params: ({ event }) => event.output }, target: '#tryOn.restoring' },
          {
            target: '#tryOn.routing',
            actions: [{ type: 'take', params: ({ event }) => event.output }, 'countDeadline'],
          },
        ],
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
                src: 'lookUpFunnel',
                onError: breaks,
                input: reading,
                onDone: [
                  {
                    guard: { type: 'isAccepted', params: ({ event }) => event.output },
                    target: 'known',
                    actions: { type: 'takeFunnel', params: ({ event }) => event.output },
                  },
                  {
                    target: '#tryOn.preparing.settling',
                    actions: { type: 'takeStop', params: ({ event }) => event.output },
                  },
                ],
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
                src: 'uploadPhoto',
                input: reading,
                onDone: [
                  {
                    guard: { type: 'isAccepted', params: ({ event }) => event.output },
                    target: 'uploaded',
                    actions: { type: 'takePhoto', params: ({ event }) => event.output },
                  },
                  {
                    target: '#tryOn.preparing.settling',
                    actions: { type: 'takeStop', params: ({ event }) => event.output },
                  },
                ],
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
                src: 'askVisitor',
                onError: breaks,
                /** It may create a visitor, so an unknown outcome is not repeated. */
                input: ({ context }) => ({ clock: context.clock, repeats: 0, of: context }),
                onDone: {
                  target: 'known',
                  actions: { type: 'takeVisitor', params: ({ event }) => event.output },
                },
              },
            },
            known: { type: 'final' },
          },
        },
      },
    },
    settling: {
      tags: 'busy',
      invoke: {
        src: 'settle',
        onError: breaks,
        input: ({ context }) => context,
        onDone: [
          { guard: { type: 'isGone', params: ({ event }) => event.output }, target: '#tryOn.restoring' },
          { target: '#tryOn.routing', actions: { type: 'take', params: ({ event }) => event.output } },
        ],
      },
    },
  },
})
