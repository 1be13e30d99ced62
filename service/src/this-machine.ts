import { isIPv4 } from 'node:net'

const ofThisMachine = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'ENETDOWN']

/** Whether an error is of this machine, and says nothing of what was asked for. */
export function isOfThisMachine(cause: unknown): boolean {
  // of a host with several addresses
  if (cause instanceof AggregateError) return cause.errors.some(isOfThisMachine)
  const { code, address } = Object(cause) as { code?: unknown; address?: unknown }
  // no port is left; of an address of IPv6 it says that this machine has none of that
  const isOut = code === 'EADDRNOTAVAIL' && isIPv4(String(address))
  return isOut || ofThisMachine.includes(String(code))
}
