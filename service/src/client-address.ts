import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = readonly [Address, number]

/** Whether a text is an address, or a range of addresses such as 10.0.0.0/8. */
export const isRange = (text: string): boolean => ipaddr.isValid(text) || ipaddr.isValidCIDR(text)

/**
 * Who counts as one client: the address of the socket, or what trusted proxies vouch for; of IPv6 the network, as each
 * client has a whole one.
 */
export function clientOf(socket: string, forwarded: string | undefined, trusted: readonly string[]): string {
  let client = plainOf(socket)
  if (client === null) return socket
  const isTrusted = trustIn(trusted)
  for (const hop of (forwarded?.split(',') ?? []).toReversed()) {
    const address = plainOf(hop)
    if (address === null || !isTrusted(client)) break
    client = address
  }
  return networkOf(client)
}

/** Whether the address of a socket is one of the trusted proxies. */
export function isProxy(socket: string, trusted: readonly string[]): boolean {
  const address = plainOf(socket)
  return address !== null && trustIn(trusted)(address)
}

/** One spelling for all that an address has, without a port; null where it is none. */
function plainOf(text: string): string | null {
  const trimmed = text.trim()
  // most are, and reading what else an address may look like takes longer than all the rest
  if (plainIPv4.test(trimmed)) return trimmed
  try {
    return ipaddr.process(trimmed.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1')).toString()
  } catch {
    return null
  }
}

const octet = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)'
const plainIPv4 = new RegExp(`^${octet}(?:\\.${octet}){3}$`)

type Trust = (address: string) => boolean

const trusts = new WeakMap<readonly string[], Trust>()

const trustIn = (trusted: readonly string[]): Trust => trusts.get(trusted) ?? trustOf(trusted)

/** How many addresses are remembered of which it is known whether they are proxies. */
const mostKnown = 1_000

/** Whether an address is one of the proxies. As this is asked with every request, mostly of the same, it is remembered. */
function trustOf(trusted: readonly string[]): Trust {
  const ranges = trusted.map(rangeOf)
  const known = new Map<string, boolean>()
  const isTrusted: Trust = (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    const address = ipaddr.parse(text)
    const isOne = ranges.some((range) => isIn(address, range))
    if (known.size >= mostKnown) known.clear()
    known.set(text, isOne)
    return isOne
  }
  trusts.set(trusted, isTrusted)
  return isTrusted
}

function rangeOf(text: string): Range {
  if (!ipaddr.isValidCIDR(text)) {
    const address = ipaddr.process(text)
    return [address, address.kind() === 'ipv4' ? 32 : 128]
  }
  const [network, bits] = ipaddr.parseCIDR(text)
  // of what is mapped into IPv6 clients are known by their IPv4
  const isMapped = network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && bits >= mappedBits
  return isMapped ? [network.toIPv4Address(), bits - mappedBits] : [network, bits]
}

/** How much of an IPv6 address says that an IPv4 one is mapped into it. */
const mappedBits = 96

const isIn = (address: Address, [network, bits]: Range) =>
  address.kind() === network.kind() && address.match(network, bits)

const networkOf = (client: string) => {
  if (!client.includes(':')) return client
  const { parts } = ipaddr.IPv6.parse(client)
  return `${parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`
}
