export { requestMachine, type RequestInput } from './request.machine.ts'
export { tryOnMachine } from './try-on.machine.ts'
export type { Consent, EmailForm, PollStep, Step, TryOnContext, TryOnEvent, TryOnInput } from './try-on.types.ts'
export { restoringView, tryOnView } from './try-on.view.ts'
