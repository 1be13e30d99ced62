/** Addresses of anything but the program's own files. */
const address = /\b(?!file:|node:)[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)]+/gi
const email = /[^\s@"'<>(),:;]+@[^\s@"'<>(),:;]+\.[a-z]{2,}/gi

/** Names that begin or end with a random ID, as photos and pictures have them, whose addresses are no secret but them. */
const named = /[\w.-]*[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}[\w.-]*/gi

/** As keys are that a command has issued. */
const issued = /\b[0-9a-f]{32}\b/g

/** A text without addresses, e-mail addresses, names of pictures and the keys that are given. */
export function redacted(text: string, keys: readonly string[]): string {
  const open = text
    .replace(address, '[address]')
    .replace(email, '[e-mail]')
    .replace(named, '[name]')
    .replace(issued, '[key]')
  return keys.filter(Boolean).reduce((left, key) => left.replaceAll(key, '[key]'), open)
}
