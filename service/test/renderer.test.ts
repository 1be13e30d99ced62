import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import type { FunnelType } from 'fitting-room/contract'
import { PhotoNotReadable } from '../src/photo-problems.ts'
import { render } from '../src/drawing/renderer.ts'
import { samplePhotos } from './sample-photos.ts'

const read = (path: string) => readFileSync(fileURLToPath(new URL(path, import.meta.url)))
const person = read('../../examples/sample/person.png')
const garment = (name: string) => read(`../garments/${name}.svg`)
/** A garment of one colour that no part of the photo has. */
const magenta = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><rect width="90" height="90" rx="9" fill="#f0f"/></svg>',
)

async function colourAt(picture: Uint8Array, x: number, y: number): Promise<number[]> {
  const { data } = await sharp(picture)
    .extract({ left: x - 2, top: y - 2, width: 4, height: 4 })
    .resize(1, 1)
    .raw()
    .toBuffer({ resolveWithObject: true })
  return [...data]
}
const isMagenta = ([red = 0, green = 0, blue = 0]: number[]) => red - green > 60 && blue - green > 60

const colours = async (picture: Uint8Array, ...places: [number, number][]) =>
  Promise.all(places.map(async ([x, y]) => isMagenta(await colourAt(picture, x, y))))
const widthOf = async (picture: Uint8Array) => (await sharp(picture).metadata()).width
const [portrait, selfie, fullLength, wide, tall, dark, nobody] = await samplePhotos()

describe('the renderer', () => {
  it.each<[FunnelType, string, Uint8Array, [number, number], [number, number]]>([
    ['upper_body', 'breton-tee', person, [200, 380], [224, 100]],
    ['dress', 'wrap-dress', person, [200, 450], [224, 100]],
    ['custom', 'star-rosette', person, [309, 300], [224, 100]],
    ['upper_body', 'denim-jacket', fullLength!, [243, 240], [243, 140]],
    ['lower_body', 'linen-trousers', fullLength!, [243, 380], [243, 240]],
    ['upper_body', 'breton-tee', wide!, [500, 380], [100, 380]],
    ['upper_body', 'breton-tee', tall!, [200, 680], [224, 150]],
  ])('lays a garment for %s, such as %s, where it is worn, and leaves the rest', async (type, name, photo, on, off) => {
    const { final } = await render(photo, magenta, type)
    expect(await colours(final.bytes, on, off)).toEqual([true, false])
    expect(await widthOf(final.bytes)).toBe(await widthOf(photo))
    const real = await render(photo, garment(name), type)
    expect(await widthOf(real.final.bytes)).toBe(await widthOf(photo))
  })

  it('puts glasses on the eyes', async () => {
    const lens = await sharp(magenta).resize(96, 32, { fit: 'fill' }).png().toBuffer()
    const { final } = await render(person, lens, 'accessory')
    expect(await colours(final.bytes, [223, 96], [223, 140], [223, 60])).toEqual([true, false, false])
  })

  it('keeps the proportions of a garment', async () => {
    const tall = await sharp(magenta).resize(60, 120, { fit: 'fill' }).png().toBuffer()
    const square = await render(fullLength!, magenta, 'upper_body')
    const { final } = await render(fullLength!, tall, 'upper_body')
    // as wide, and twice as high
    expect(await colours(square.final.bytes, [243, 300], [243, 400])).toEqual([true, false])
    expect(await colours(final.bytes, [243, 300], [243, 400])).toEqual([true, true])
  })

  it.each<[string, Uint8Array, FunnelType]>([
    ['nobody is in the photo', nobody!, 'upper_body'],
    ['the photo ends above the legs', portrait!, 'lower_body'],
    ['the photo is of a face alone', selfie!, 'dress'],
    ['nobody knows where it is worn', portrait!, 'accessory'],
  ])('shows the garment beside the photo where %s', async (_, photo, type) => {
    const { final } = await render(photo, magenta, type)
    const { width, height } = await sharp(final.bytes).metadata()
    expect(height).toBe(960)
    // on white, in the right half
    expect(await colours(final.bytes, [width - 358, 480], [width - 640, 70])).toEqual([true, false])
  })

  it('makes a garment as dark as the photo', async () => {
    const brightness = async (photo: Uint8Array) => {
      const { final } = await render(photo, magenta, 'upper_body')
      const [red = 0] = await colourAt(final.bytes, 200, 380)
      return red
    }
    expect(await brightness(dark!)).toBeLessThan((await brightness(person)) * 0.7)
  })

  it('marks every picture as one of the sandbox', async () => {
    const plain = await sharp({ create: { width: 700, height: 700, channels: 3, background: '#888' } })
      .png()
      .toBuffer()
    const { final } = await render(plain, magenta, 'upper_body')
    const { width, height } = await sharp(final.bytes).metadata()
    const corner = { left: width - 110, top: height - 40, width: 100, height: 30 }
    const { channels } = await sharp(final.bytes).extract(corner).stats()
    // light strokes on a dark ground, where the card has its paper
    expect(channels.every(({ min, max }) => min < 140 && max > 200)).toBe(true)
  })

  it('makes a JPEG of the photo’s size, and a smaller preview with a mark', async () => {
    const { preview, final } = await render(person, garment('breton-tee'), 'upper_body')
    const [small, whole] = await Promise.all([preview, final].map(({ bytes }) => sharp(bytes).metadata()))
    expect([whole?.format, whole?.width, whole?.height]).toEqual(['jpeg', 512, 512])
    expect([small?.format, small?.width]).toEqual(['jpeg', 360])
    expect(preview.bytes.length).toBeLessThan(final.bytes.length)
    const unmarked = await sharp(final.bytes).resize(360).raw().toBuffer()
    const marked = await sharp(preview.bytes).raw().toBuffer()
    const brighter = marked.filter((value, at) => value - (unmarked[at] ?? 0) > 60).length
    expect(brighter).toBeGreaterThan(1000)
  })

  it.each(['jpeg', 'webp', 'avif'] as const)('takes %s photos', async (format) => {
    const photo = await sharp(person).toFormat(format).toBuffer()
    const { final } = await render(photo, garment('breton-tee'), 'upper_body')
    expect((await sharp(final.bytes).metadata()).width).toBe(512)
  })

  it('turns a photo the way up that its camera noted', async () => {
    const lying = await sharp(person)
      .resize(300, 512, { fit: 'fill' })
      .rotate(90)
      .withMetadata({ orientation: 8 })
      .jpeg()
      .toBuffer()
    const { final } = await render(lying, garment('star-rosette'), 'custom')
    const { width, height } = await sharp(final.bytes).metadata()
    expect(height).toBeGreaterThan(width)
  })

  it('loses the white background of a garment photo', async () => {
    const onWhite = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="90"><rect width="90" height="90" fill="#fff"/><path d="M45 5L85 45L45 85L5 45Z" fill="#f0f"/></svg>',
    )
    const { final } = await render(person, await sharp(onWhite).jpeg().toBuffer(), 'upper_body')
    expect(isMagenta(await colourAt(final.bytes, 223, 410))).toBe(true)
    const [kept, was] = await Promise.all([final.bytes, person].map(async (picture) => colourAt(picture, 120, 250)))
    expect(Math.max(...was!.map((value, at) => Math.abs(value - (kept![at] ?? 0))))).toBeLessThan(40)
  })

  it('takes photos of one pixel and very narrow ones', async () => {
    for (const [width, height] of [
      [1, 1],
      [1, 3000],
      [3000, 1],
    ] as const) {
      const photo = await sharp({ create: { width, height, channels: 3, background: '#888' } })
        .png()
        .toBuffer()
      await expect(render(photo, garment('breton-tee'), 'upper_body')).resolves.toBeDefined()
    }
  })

  it.each([
    ['text', Buffer.from('not a picture')],
    ['a cut file', person.subarray(0, 2000)],
    ['nothing', Buffer.alloc(0)],
    ['a HEIC file without a picture', Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic')],
  ])('refuses %s as a photo', async (_, photo) => {
    await expect(render(photo, garment('breton-tee'), 'upper_body')).rejects.toThrow(PhotoNotReadable)
  })
})
