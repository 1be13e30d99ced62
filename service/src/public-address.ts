import ipaddr from 'ipaddr.js'

/** Whether an IP address is one of the public internet. */
export const isPublic = (address: string): boolean => ipaddr.process(address).range() === 'unicast'

/** Whether a host's name may lead to the public internet, as far as the name tells. */
export function mayBePublic(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return ipaddr.isValid(host) ? isPublic(host) : host !== 'localhost' && !host.endsWith('.localhost')
}
