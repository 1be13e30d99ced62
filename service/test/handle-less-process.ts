import { openSync } from 'node:fs'
import { fetchPhoto } from '../src/photo-fetcher.ts'

/** Says how a photo fares at which nobody listens, and then how it does once this process has no file handles left. */
const fares = () =>
  fetchPhoto('http://127.0.0.1:1/photo', () => true).then(
    () => 'found',
    (error: Error) => error.constructor.name,
  )
const before = await fares()
const all = () => {
  for (;;) openSync('/dev/null', 'r')
}
try {
  all()
} catch {
  console.log(before, await fares())
}
