import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { describe, expect, it } from 'vitest'
import type { FunnelType } from 'fitting-room/contract'
import { PhotoNotReadable } from '../src/photo-problems.ts'
import { render } from '../src/drawing/renderer.ts'

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

describe('the renderer', () => {
  it.each<[FunnelType, string, [number, number], [number, number]]>([
    ['upper_body', 'breton-tee', [200, 380], [224, 100]],
    ['lower_body', 'linen-trousers', [200, 700], [200, 300]],
    ['dress', 'wrap-dress', [200, 600], [224, 100]],
    ['accessory', 'round-sunglasses', [228, 98], [200, 400]],
    ['custom', 'star-rosette', [256, 360], [224, 100]],
  ])('lays a %s garment where it is worn, and leaves the rest', async (funnelType, name, on, off) => {
    const { final } = await render(person, magenta, funnelType)
    expect(isMagenta(await colourAt(final.bytes, ...on))).toBe(true)
    expect(isMagenta(await colourAt(final.bytes, ...off))).toBe(false)
    const real = await render(person, garment(name), funnelType)
    expect(real.final.type).toBe('image/jpeg')
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
    const onWhite = await sharp(magenta)
      .resize(60)
      .extend({ top: 60, bottom: 60, left: 60, right: 60, background: '#fff' })
      .flatten()
      .jpeg()
      .toBuffer()
    const { final } = await render(person, onWhite, 'upper_body')
    expect(isMagenta(await colourAt(final.bytes, 200, 410))).toBe(true)
    const [red = 0, , blue = 0] = await colourAt(final.bytes, 120, 300)
    expect(red - blue).toBeGreaterThan(60)
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
