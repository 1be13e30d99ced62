import type { Intent } from '../src/rules/words.ts'
import { Private } from './private.ts'
import type { TryOnEvent } from './try-on.types.ts'

const consent = { attemptId: '', photoId: '' }

/** The events that ask the machine whether an intent is permitted. */
export const probes: Readonly<Record<Intent, TryOnEvent>> = {
  start: { type: 'start', consent },
  submitEmail: { type: 'submitEmail', form: new Private({ email: '' }) },
  resume: { type: 'resume' },
  retry: { type: 'retry', consent },
  startOver: { type: 'startOver' },
  discard: { type: 'discard', abandonPaidJob: false },
}
