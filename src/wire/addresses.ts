/** The e-mail addresses that were sent: no answer that repeats one may show it. They are held in memory only. */
export interface Addresses {
  /** Takes note of an address before it is sent; gives what hides this and the latest other ones in the answer's texts. */
  note(address: string | undefined): (text: string) => string
  /** Requests that are still out hide what they knew. */
  forget(): void
}

/** How many are held: a back end sends ever new ones. */
const mostHeld = 8

export function createAddresses(): Addresses {
  let held = new Set<string>()
  return {
    note(address) {
      const known = held
      if (address !== undefined) {
        // the latest are held
        known.delete(address)
        known.add(address)
        if (known.size > mostHeld) known.delete([...known][0] ?? '')
      }
      return (text) => {
        const sent = new Set(address === undefined ? known : [...known, address])
        return longestFirst(sent).reduce((rest, each) => rest.replace(anySpelling(each), hidden), text)
      }
    },
    forget() {
      held = new Set()
    },
  }
}

/** Hides whatever looks like an address, which another page may have sent, and what may sign a URL. */
export const withoutAddresses = (text: string): string =>
  text.replace(/[^\s@]{1,64}@[^\s@]{1,255}/g, hidden).replace(/(:\/\/[^\s?]+\?)\S+/g, '$1[hidden]')

/** From how many characters on a key is found in a text: a shorter one may be any word of it. */
const shortestKey = 8

/** An answer may repeat what it was sent. */
export const withoutKey = (text: string, key: string): string =>
  key.length < shortestKey ? text : text.replace(anySpelling(key), '[key]')

const hidden = '[e-mail]'

/** One address may be the end of another. */
const longestFirst = (sent: ReadonlySet<string>) => [...sent].sort((one, other) => other.length - one.length)

// escapes may be escaped themselves, but not for ever: every place of a text is looked at
const percent = '%(?:25){0,4}'
const backslashes = String.raw`(?:\\|%5c){1,15}`
const ampersand = '(?:&|%26)(?:amp(?:;|%3b)){0,4}'
const hash = '(?:#|%23)'
const semicolon = '(?:;|%3b)?'

/** Matches an address, or a key, however each of its characters is spelled. */
function anySpelling(sent: string): RegExp {
  return new RegExp([...sent].map(characterSpelling).join(''), 'gi')
}

/** The character itself, or escaped as in a URL, a mail, JSON, a script, or HTML, and escaped again. */
function characterSpelling(character: string): string {
  const blank = character === '+' ? [' '] : []
  const lower = character.toLowerCase()
  const readings = [...new Set([lower, character.toUpperCase(), ...blank])]
  const decimal = either(readings.map((each) => `${each.charCodeAt(0)}`))
  const hex = either(readings.map((each) => each.charCodeAt(0).toString(16)))
  // one for both cases, as the flag has it: with two a text that begins like it has twice as many ways with each letter
  const itself = either([lower, ...blank].map((each) => each.replace(/[$()*+./?[\\\]^{|}]/, String.raw`\$&`)))
  // HTML has a name for each that is no letter or digit
  const named = /[a-z0-9]/i.test(character) ? '' : '|[a-z]{2,20}'
  return either([
    String.raw`\\{0,15}${itself}`,
    `(?:${percent}|=)${hex}`,
    String.raw`${backslashes}(?:u(?:00|\{0{0,4})|x\{?)${hex}\}?`,
    `${ampersand}(?:${hash}(?:0{0,8}${decimal}|x0{0,8}${hex})${named})${semicolon}`,
  ])
}

const either = (choices: readonly string[]) => `(?:${choices.join('|')})`
