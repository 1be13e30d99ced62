/** Addresses of anything but the program's own files. */
const address = /\b(?!file:|node:)[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)]+/gi
const email = /[^\s@"'<>(),:;]+@[^\s@"'<>(),:;]+\.[a-z]{2,}/gi

/** As keys are that a command has issued. */
const issued = /\b[0-9a-f]{32}\b/g

/** A text without addresses, e-mail addresses and the keys that are given. */
export function redacted(text: string, keys: readonly string[]): string {
  const open = text.replace(address, '[address]').replace(email, '[e-mail]').replace(issued, '[key]')
  return keys.reduce((left, key) => left.replaceAll(key, '[key]'), open)
}
