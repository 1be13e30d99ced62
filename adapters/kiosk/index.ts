export { createSession, type Session, type SessionOptions, type SessionView } from './session.ts'
export { deviceLimits, type DeviceLimits, type DeviceLimitsOptions } from './limits.ts'
export { watchPage, type Missing } from './page.ts'
export { newId as newShopperId } from '../../src/platform/new-id.ts'
