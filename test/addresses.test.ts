import * as fc from 'fast-check'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { createAddresses, withoutAddresses, withoutKey } from '../src/wire/addresses.ts'
import { email } from '../src/contract/resources.ts'

const entities: Record<string, string> = { '@': 'commat', '.': 'period', '+': 'plus', '-': 'hyphen', _: 'lowbar' }
const code = (character: string) => character.charCodeAt(0)
const hex = (character: string, length = 2) => code(character).toString(16).padStart(length, '0')

/** The ways to write one character. */
const ways: ((character: string) => string)[] = [
  (character) => character,
  (character) => character.toUpperCase(),
  (character) => character.toLowerCase(),
  (character) => `%${hex(character)}`,
  (character) => `%${hex(character).toUpperCase()}`,
  (character) => `%25${hex(character)}`,
  (character) => `%2525${hex(character)}`,
  (character) => `=${hex(character).toUpperCase()}`,
  (character) => `\\u${hex(character, 4)}`,
  (character) => `\\\\u${hex(character, 4).toUpperCase()}`,
  (character) => `\\u{${hex(character)}}`,
  (character) => `\\x${hex(character)}`,
  (character) => `\\${character}`,
  (character) => `&#${code(character)};`,
  (character) => `&#0${code(character)};`,
  (character) => `&#x${hex(character)};`,
  (character) => `&#X${hex(character, 4).toUpperCase()};`,
  (character) => `&amp;#${code(character)};`,
  (character) => `%26%23${code(character)}%3B`,
  (character) => `%5Cu${hex(character, 4)}`,
  (character) => (character in entities ? `&${entities[character]};` : character),
]

const letters = (alphabet: string, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength: 1, maxLength })
const lower = 'abcdefghijklmnopqrstuvwxyz'
const anyAddress = fc
  .tuple(
    letters(`${lower}${lower.toUpperCase()}0123456789.!#$%&'*+/=?^_\`{|}~-`, 20),
    fc.array(letters(`${lower}0123456789`, 8), { minLength: 1, maxLength: 3 }),
  )
  .map(([local, domain]) => `${local}@${domain.join('.')}`)
  .filter((address) => email.safeParse(address).success)

/** An address, and one of its spellings. */
const spelled = anyAddress.chain((address) =>
  fc
    .array(fc.constantFrom(...ways), { minLength: address.length, maxLength: address.length })
    .map((chosen) => [address, [...address].map((each, index) => chosen[index]?.(each)).join('')] as const),
)

const hiding = (...sent: string[]) => {
  const addresses = createAddresses()
  return sent.map((address) => addresses.note(address)).at(-1) ?? addresses.note(undefined)
}

describe('an e-mail address that was sent', () => {
  it('is hidden in every mixture of spellings, wherever it stands', () => {
    fc.assert(
      fc.property(spelled, fc.string(), fc.string(), ([address, spelling], before, after) => {
        const hidden = hiding(address)(`${before}<${spelling}>${after}`)
        expect(hidden).toContain('[e-mail]')
        expect(hidden).not.toContain(spelling)
      }),
      { numRuns: 300 },
    )
  })

  it('is hidden as the platform itself would spell it', () => {
    fc.assert(
      fc.property(anyAddress, (address) => {
        const { search } = new URL(`https://shop.example/?${new URLSearchParams({ to: address })}`)
        const hide = hiding(address)
        expect(hide(search)).toBe('?to=[e-mail]')
        expect(hide(encodeURIComponent(encodeURIComponent(address)))).toBe('[e-mail]')
        expect(hide(JSON.stringify({ to: address }))).toBe('{"to":"[e-mail]"}')
        expect(hide(address.toUpperCase())).toBe('[e-mail]')
      }),
      { numRuns: 50 },
    )
  })

  it.each([
    ['?email=ada@shop.example&x=1', '?email=[e-mail]&x=1'],
    ['%61%64%61@shop.example', '[e-mail]'],
    ['a&#100;a&commat;shop&period;example', '[e-mail]'],
    [String.raw`{\"to\":\"ada\\u0040shop.example\"}`, String.raw`{\"to\":\"[e-mail]\"}`],
    ['ada@shop.example, Ada@Shop.Example', '[e-mail], [e-mail]'],
  ])('%s is shown as %s', (text, shown) => {
    expect(hiding('ada@shop.example')(text)).toBe(shown)
  })

  it.each([
    ['could not PUT https://up.test/a?sig=abc, twice', 'could not PUT https://up.test/a?[hidden] twice'],
    ['"http://up.test?a" and http://up.test/b', '"http://up.test?[hidden] and http://up.test/b'],
  ])('is hidden of others, too, as is what may sign a URL: %s', (text, shown) => {
    expect(withoutAddresses(`${text}, of bob@shop.example`)).toBe(`${shown}, of [e-mail]`)
  })

  it('leaves every other text as it is', () => {
    fc.assert(
      fc.property(anyAddress, fc.string(), (address, text) => {
        fc.pre(!text.includes('@') && !text.includes('40') && !text.includes('64') && !text.includes('commat'))
        expect(hiding(address)(text)).toBe(text)
      }),
    )
    expect(hiding('ada@shop.example')('bob@shop.example 100% &amp; 40')).toBe('bob@shop.example 100% &amp; 40')
  })

  it('holds nobody up where a text begins like it, however long that goes on, nor does a key', () => {
    const long = `maximiliane.mustermann.${'ab'.repeat(20)}@shop.example`
    const texts = [long.slice(0, -1), long.slice(0, 40).repeat(1_000), `${long.slice(0, -1)}!`]
    const hide = () => texts.map((text) => [hiding(long)(text), withoutKey(text, long)])
    // only what never ends is stopped
    const hidden: unknown = runInNewContext('hide()', { hide }, { timeout: 60_000 })
    expect(hidden).toEqual(texts.map((text) => [text, text]))
  })

  it('is hidden whole beside a shorter one that it ends with', () => {
    expect(hiding('da@shop.example', 'ada@shop.example')('ada@shop.example')).toBe('[e-mail]')
  })

  it('is hidden in answers to all requests of the run, and not after it was forgotten', () => {
    const addresses = createAddresses()
    const earlier = addresses.note(undefined)
    addresses.note('ada@shop.example')
    const later = addresses.note(undefined)
    addresses.forget()
    expect([earlier, later, addresses.note(undefined)].map((hide) => hide('to ada@shop.example'))).toEqual([
      'to [e-mail]',
      'to [e-mail]',
      'to ada@shop.example',
    ])
  })

  it('is hidden in the answer to its own request, however many were sent since', () => {
    const addresses = createAddresses()
    const own = addresses.note('ada@shop.example')
    for (let at = 0; at < 1_000; at++) addresses.note(`bob${at}@shop.example`)
    const last = addresses.note(undefined)
    expect([own, last].map((hide) => hide('to ada@shop.example and bob999@shop.example'))).toEqual([
      'to [e-mail] and [e-mail]',
      // a back end holds the latest alone
      'to ada@shop.example and [e-mail]',
    ])
  })

  it('does not make a long text slow to read, whatever it is full of', () => {
    const address = `%&=+${'%25'.repeat(20)}@${'a'.repeat(60)}.example`
    const text = '%25%2525&amp;&amp;=25'.repeat(5_000)
    expect(hiding(address)(text)).toBe(text)
  })
})
