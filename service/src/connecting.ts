import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'

/**
 * This process tries each of a host's addresses for that long before the next, in ms, whatever it connects to: the last one
 * may be of a kind that is not had here, and some hosts are far away.
 */
export const connectPatiently = () => setDefaultAutoSelectFamilyAttemptTimeout(3_000)
