import {
  asked,
  begins,
  breaks,
  discards,
  given,
  its,
  learns,
  leaves,
  noted,
  renewing,
  requested,
  routed,
  settling,
  wakes,
} from './try-on.rows.ts'
import { tryOnSetup } from './try-on.setup.ts'

const stops = { target: '#tryOn.preparing.settling', actions: its('takeRefusal') } as const

/** Why an actor broke. */
const fails = <Name extends string>(type: Name) => given(type, 'error')

/** Consented: the consent is written down, then funnel, photo and visitor are seen to side by side. */
export const preparing = tryOnSetup.createStateConfig({
  initial: 'consenting',
  exit: 'forgetWaits',
  states: {
    consenting: {
      tags: 'busy',
      invoke: {
        ...asked('consent'),
        onDone: routed,
      },
    },
    renewing,
    gathering: {
      type: 'parallel',
      on: {
        ...noted,
        ...learns,
        start: begins,
        startOver: leaves,
        discard: discards,
        uploaded: { actions: given('takeUpload', 'progress') },
      },
      onDone: [{ guard: 'isEmailNeeded', target: 'settling' }, { target: '#tryOn.resuming' }],
      states: {
        funnel: {
          initial: 'asking',
          states: {
            asking: {
              on: wakes('lookUpFunnel'),
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
              on: wakes('uploadPhoto'),
              invoke: {
                ...requested('uploadPhoto'),
                onDone: [{ guard: its('isAccepted'), target: 'uploaded', actions: its('takePhoto') }, stops],
                /** The bytes are gone, so the shopper is asked again. */
                onError: [
                  { guard: fails('isPhotoGone'), target: '#tryOn.leaving', actions: fails('takeFailure') },
                  breaks,
                ],
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
              on: wakes('askVisitor'),
              invoke: {
                ...requested('askVisitor'),
                /** Without an answer the submission decides. */
                onDone: [
                  { guard: its('isThrottled'), ...stops },
                  { target: 'known', actions: its('takeVisitor') },
                ],
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
