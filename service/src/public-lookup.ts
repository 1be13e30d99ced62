import { Resolver } from 'node:dns/promises'
import type { LookupFunction } from 'node:net'
import { PhotoNotAccessible } from './photo-problems.ts'
import { isPublic } from './public-address.ts'
import { PutOff } from './put-off.ts'

/**
 * What asks name servers. The system's own look-up has few threads, which everything shares, and is not given up: name
 * servers that say nothing would stop all.
 */
export const openResolver = () => new Resolver({ timeout: 3_000, tries: 2 })

/** What says nothing of the name: no name server hears this machine. */
const unheard = ['ECONNREFUSED', 'ENOMEM']

/** Whose photo it was would be told by the name. */
function nothing(cause: unknown): string[] {
  const code = String(Object(cause).code)
  if (!unheard.includes(code)) return []
  throw new PutOff(`no name server can be asked: ${code}`)
}

/** Finds the addresses of a name, where all of them are public; fails with `PutOff` where nobody can be asked. */
export function publicLookup(open: () => Resolver): LookupFunction {
  const found = async (of: 4 | 6, addresses: Promise<string[]>) =>
    (await addresses.catch(nothing)).map((address) => ({ address, family: of }))
  return (hostname, { all, family }, done) => {
    // what comes of one name ends whatever else its resolver was asked
    const resolver = open()
    const answer = (known: { address: string; family: 4 | 6 }[]) => {
      const wanted = known.filter((each) => !family || each.family === family)
      const [first] = wanted
      if (!first || !known.every(({ address }) => isPublic(address))) done(new PhotoNotAccessible(), '', 4)
      else if (all) done(null, wanted)
      else done(null, first.address, first.family)
    }
    const both = [found(4, resolver.resolve4(hostname)), found(6, resolver.resolve6(hostname))]
    Promise.all(both).then(
      (each) => answer(each.flat()),
      (error: Error) => done(error, '', 4),
    )
  }
}
