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
  const ranges = rangesOf(trusted)
  let client = addressOf(socket)
  for (const hop of (forwarded?.split(',') ?? []).toReversed()) {
    const address = addressOf(hop)
    if (client === null || address === null || !ranges.some((range) => isIn(client!, range))) break
    client = address
  }
  return client === null ? socket : networkOf(client)
}

/** One address for all its spellings, without a port; null where it is none. */
function addressOf(text: string): Address | null {
  const trimmed = text.trim()
  try {
    // most are plain, and reading what else an address may look like takes longer than all the rest
    if (plain.test(trimmed)) return new ipaddr.IPv4(trimmed.split('.').map(Number))
    return ipaddr.process(trimmed.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1'))
  } catch {
    return null
  }
}

const plain = /^(?:0|[1-9]\d{0,2})(?:\.(?:0|[1-9]\d{0,2})){3}$/

const parsed = new WeakMap<readonly string[], Range[]>()

/** As they are asked for with every request, they are read once. */
function rangesOf(trusted: readonly string[]): Range[] {
  const known = parsed.get(trusted)
  if (known) return known
  const ranges = trusted.map(rangeOf)
  parsed.set(trusted, ranges)
  return ranges
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

const networkOf = (address: Address) =>
  'parts' in address
    ? `${address.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
    : address.toString()
