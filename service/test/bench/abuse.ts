import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { keyHeader } from 'fitting-room/contract'
import sharp from 'sharp'

/** One kind of abuse, from as many clients at once. */
interface Abuse {
  what: string
  /** Resolves once all of it is answered, or given up. */
  run(url: string): Promise<unknown>
}

const headers = { [keyHeader]: 'sandbox-key', 'Content-Type': 'application/json' }
const several = (count: number, one: (at: number) => Promise<unknown>) =>
  Promise.allSettled(Array.from({ length: count }, (_, at) => one(at)))
/** Each from an address of its own. */
const from = (at: number) => ({ 'X-Forwarded-For': `10.9.${at >> 8}.${at & 255}` })

async function upload(url: string, at: number, photo: Uint8Array<ArrayBuffer>, type = 'image/png'): Promise<void> {
  const init = { method: 'POST', headers: { ...headers, ...from(at) }, body: JSON.stringify({ contentType: type }) }
  const { data } = (await (await fetch(`${url}/uploads`, init)).json()) as { data: { uploadUrl: string } }
  const put = { method: 'PUT', headers: { 'Content-Type': type }, body: new Blob([photo]) }
  await (await fetch(data.uploadUrl, put)).arrayBuffer()
}

/** A body of which a byte comes from time to time, until it is given up. */
const slowly = (url: string, at: number, ms: number): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const head = [
      'POST /generations HTTP/1.1',
      'Host: service',
      'Content-Length: 60000',
      'Content-Type: application/json',
    ]
    const more = Object.entries({ ...headers, ...from(at) }).map(([name, value]) => `${name}: ${value}`)
    socket.write(`${[...new Set([...head, ...more])].join('\r\n')}\r\n\r\n{`)
    const drip = setInterval(() => socket.write(' '), 100)
    const end = setTimeout(() => socket.destroy(), ms)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      clearInterval(drip)
      clearTimeout(end)
      resolve()
    })
    socket.resume()
  })

const noise = (bytes: number) => new Uint8Array(bytes).fill(65)
const heic = new Uint8Array(readFileSync(fileURLToPath(new URL('../photos/ninety-megapixels.heic', import.meta.url))))
const create = { width: 7_700, height: 7_700, channels: 3 as const, background: '#7a5' }

/** What a service that anybody can reach must bear. */
async function abuses(): Promise<Abuse[]> {
  const [large, tooLarge] = [noise(20_000_000), noise(40_000_000)]
  const plain = new Uint8Array(await sharp({ create }).png({ compressionLevel: 9 }).toBuffer())
  const withMetadata = new Uint8Array(
    await sharp({ create })
      .withExif({ IFD0: { Artist: 'nobody' } })
      .jpeg()
      .toBuffer(),
  )
  return [
    { what: '60 uploads of 20 MB that are no picture', run: (url) => several(60, (at) => upload(url, at, large)) },
    { what: '60 uploads of 40 MB, twice what is taken', run: (url) => several(60, (at) => upload(url, at, tooLarge)) },
    { what: '300 bodies of a byte each 100 ms', run: (url) => several(300, (at) => slowly(url, at, 20_000)) },
    {
      what: `20 PNGs of ${plain.length >> 10} KiB and 59 megapixels`,
      run: (url) => several(20, (at) => upload(url, at, plain)),
    },
    {
      what: `20 JPEGs of ${withMetadata.length >> 10} KiB and 59 megapixels, drawn anew`,
      run: (url) => several(20, (at) => upload(url, at, withMetadata, 'image/jpeg')),
    },
    {
      what: '100 HEICs of 21 KiB and 90 megapixels',
      run: (url) => several(100, (at) => upload(url, at, heic, 'image/heic')),
    },
  ]
}

// nobody is left to serve
process.once('disconnect', () => process.exit())
const all = await abuses()
process.send?.(all.map(({ what }) => what))
process.on('message', async ({ at, url }: { at: number; url: string }) => {
  await all[at]?.run(url)
  process.send?.('over')
})
