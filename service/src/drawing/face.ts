import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pico } from '@msvargas97/pico.js/build/src/pico.js'
import sharp from 'sharp'

/** A face in a picture, in its pixels: its middle, between the eyes and the mouth, and from the fringe to the lips. */
export interface Face {
  x: number
  y: number
  size: number
}

/** The longest side of what is looked at, in pixels: smaller faces are not found, larger pictures take longer. */
const lookedAt = 480
/** How sure it must be: with the terms below, faces have 17 and more, and what is none 3 at the most. */
const surely = 10
const overlap = 0.2
const stepOfSize = 1.1
const stepOfPlace = 0.1
/** Of the shorter side, and in pixels. */
const smallest = { part: 0.08, pixels: 20 }

const cascade = createRequire(import.meta.url).resolve('@msvargas97/pico.js/bin/facefinder.bin')
const classifier = pico.unpack_cascade(new Int8Array(readFileSync(cascade)))

/** The face that is most surely one; null where there is none. */
export async function faceIn(picture: Uint8Array): Promise<Face | null> {
  const { width: whole } = await sharp(picture).metadata()
  const { data, info } = await sharp(picture)
    .resize({ width: lookedAt, height: lookedAt, fit: 'inside', withoutEnlargement: true })
    .grayscale()
    .toColourspace('b-w')
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { width, height } = info
  const shorter = Math.min(width, height)
  const found = pico.run_cascade({ pixels: data, nrows: height, ncols: width, ldim: width }, classifier, {
    shiftfactor: stepOfPlace,
    scalefactor: stepOfSize,
    minsize: Math.max(smallest.pixels, smallest.part * shorter),
    maxsize: shorter,
  })
  const [best] = pico.cluster_detections(found, overlap).toSorted(([, , , one], [, , , other]) => other - one)
  if (!best || best[3] < surely) return null
  const scale = whole / width
  return { x: best[1] * scale, y: best[0] * scale, size: best[2] * scale }
}
