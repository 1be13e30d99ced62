import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'

const portrait = readFileSync(fileURLToPath(new URL('../../examples/sample/person.png', import.meta.url)))
const wall = '#b9c2c9'

/** The portrait's upper body on drawn legs, as somebody who stands at a wall. */
async function fullLength(): Promise<Buffer> {
  const upper = await sharp(portrait).extract({ left: 0, top: 0, width: 512, height: 500 }).resize(260).toBuffer()
  const legs = `<svg xmlns="http://www.w3.org/2000/svg" width="520" height="960">
    <rect y="850" width="520" height="110" fill="#8d8378"/>
    <path d="M170 330C160 480 172 700 178 880H240L252 500L268 880H330C338 700 352 480 338 330Z" fill="#c8632c"/>
    <path d="M166 876H242V904H150ZM266 876H336L356 904H266Z" fill="#2b2b2e"/>
  </svg>`
  return sharp({ create: { width: 520, height: 960, channels: 3, background: wall } })
    .composite([
      { input: Buffer.from(legs), left: 0, top: 0 },
      { input: upper, left: 130, top: 90 },
    ])
    .png()
    .toBuffer()
}

const beside = (side: { top?: number; left?: number; right?: number; bottom?: number }) =>
  sharp(portrait)
    .extend({ ...side, extendWith: 'copy' })
    .png()
    .toBuffer()

/** What shoppers send, made of the one sample: a portrait, a selfie, somebody as a whole, wide, tall, dark and nobody. */
export const samplePhotos = (): Promise<Buffer[]> =>
  Promise.all([
    Promise.resolve(portrait),
    sharp(portrait).extract({ left: 110, top: 10, width: 230, height: 250 }).resize(720).png().toBuffer(),
    fullLength(),
    beside({ left: 300, right: 400 }),
    beside({ top: 300, bottom: 200 }),
    sharp(portrait).linear(0.3, 0).png().toBuffer(),
    sharp(portrait).extract({ left: 0, top: 300, width: 512, height: 212 }).png().toBuffer(),
  ])
