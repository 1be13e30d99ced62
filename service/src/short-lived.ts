import { setFlagsFromString } from 'node:v8'

/**
 * For a process that serves: V8 takes what many requests have in hand at once for what stays, keeps all that is made in the
 * same places among that, and what hangs on it with it; a request then costs up to a fifth more for as long as the process lives.
 */
export const expectShortLived = (): void => setFlagsFromString('--no-allocation-site-pretenuring')
