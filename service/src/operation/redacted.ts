/** Addresses of anything but the program's own files. */
const address = /(?<![a-z0-9+.-])(?!file:|node:)[a-z0-9+.-]+:\/\/[^\s"'<>)]+/gi
const email = /(?<![^\s@"'<>(),:;])[^\s@"'<>(),:;]+@[^\s@"'<>(),:;]+\.[a-z]{2,}/gi

/** Names that begin or end with a random ID, as photos and pictures have them, whose addresses are no secret but them. */
const word = /[\w.-]{36,}/g
const random = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i

/** As keys are that a command has issued. */
const issued = /\b[0-9a-f]{32}\b/g

/** How much of a text is told, in characters: what is looked for in one of any length would stop everything else. */
const mostTold = 4_000

/** A text, its beginning where it is long, without addresses, e-mail addresses, names of pictures and the keys that are given. */
export function redacted(text: string, keys: readonly string[]): string {
  // an address that is cut would be told
  const told = text.length > mostTold ? `${text.slice(0, mostTold).replace(/\S*$/, '')}…` : text
  // one that begins with another, or has an address in it, is not to be told in part
  const longestFirst = keys.filter(Boolean).toSorted((a, b) => b.length - a.length)
  return longestFirst
    .reduce((left, key) => left.replaceAll(key, '[key]'), told)
    .replace(address, '[address]')
    .replace(email, '[e-mail]')
    .replace(word, (found) => (random.test(found) ? '[name]' : found))
    .replace(issued, '[key]')
}
