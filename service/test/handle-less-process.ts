import { openSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { garmentOf } from '../src/garments.ts'
import { fetchPhoto } from '../src/photo-fetcher.ts'

/** Says how a photo fares at which nobody listens, and a product's picture, and then how they do without any file handle left. */
const image = fileURLToPath(import.meta.url)
const fares = (had: Promise<unknown>) =>
  had.then(
    () => 'found',
    (error: Error) => error.constructor.name,
  )
const both = async () => [
  await fares(fetchPhoto('http://127.0.0.1:1/photo', { isAllowed: () => true })),
  await fares(garmentOf({ id: '1', title: 'Tee', image })),
]
const before = await both()
const all = () => {
  for (;;) openSync('/dev/null', 'r')
}
try {
  all()
} catch {
  console.log(...before, ...(await both()))
}
