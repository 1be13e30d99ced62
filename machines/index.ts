export { Private } from './private.ts'
export { requestMachine, type RequestInput } from './request.machine.ts'

export { tryOnMachine } from './try-on.machine.ts'
export type { Consent, EmailForm, Polled, TryOnContext, TryOnEvent, TryOnInput, Written } from './try-on.types.ts'
export { restoringView } from '../src/rules/first-views.ts'
export { tryOnView } from './try-on.view.ts'
export type { SteadyClock } from '../src/ports.ts'
