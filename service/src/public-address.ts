import ipaddr from 'ipaddr.js'

/** Addresses of IPv6 that once stood for one of IPv4, which nothing routes. */
const formerIpv4 = ipaddr.parseCIDR('::/96')

/** Whether an IP address is one of the public internet. */
export function isPublic(address: string): boolean {
  const parsed = ipaddr.process(address)
  return parsed.range() === 'unicast' && !(parsed.kind() === 'ipv6' && parsed.match(formerIpv4))
}

/** Whether a host's name may lead to the public internet, as far as the name tells. */
export function mayBePublic(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '')
  return ipaddr.isValid(host) ? isPublic(host) : host !== 'localhost' && !host.endsWith('.localhost')
}
