import type { FunnelType } from 'fitting-room/contract'
import type { Face } from './face.ts'

export interface Size {
  width: number
  height: number
}

export interface Box extends Size {
  left: number
  top: number
}

/** Where a garment is worn, in sizes of the face. */
interface Place {
  /** How wide it is. */
  width: number
  /** From the face's middle to the garment's. */
  right: number
  /** From the face's middle down to its upper edge. */
  below: number
  /** Which part of it the photo must show, so that it is worn and not only looks in. */
  seen: number
  /** How wide it must be for its height; another one is worn elsewhere. */
  ratio?: number
}

const places: Record<FunnelType, Place> = {
  // the collar lies below the chin, the sleeves beside the shoulders
  upper_body: { width: 3.7, right: 0, below: 0.62, seen: 0.3 },
  dress: { width: 3.7, right: 0, below: 0.62, seen: 0.3 },
  // from the waist
  lower_body: { width: 3.3, right: 0, below: 3.5, seen: 0.6 },
  // glasses
  accessory: { width: 1.1, right: 0, below: -0.34, seen: 0.95, ratio: 1.6 },
  // a brooch
  custom: { width: 0.6, right: 0.85, below: 1.6, seen: 0.95 },
}

/** Where the garment lies in the photo; null where it cannot be worn in it. */
export function placeOf(funnelType: FunnelType, garment: Size, face: Face, photo: Size): Box | null {
  const { right, below, seen, ratio = 0, ...place } = places[funnelType]
  if (garment.width / garment.height < ratio) return null
  const width = Math.max(1, Math.round(place.width * face.size))
  const height = Math.max(1, Math.round((width * garment.height) / garment.width))
  const left = Math.round(face.x + right * face.size - width / 2)
  const box = { left, top: Math.round(face.y + below * face.size), width, height }
  const shown = visible(box, photo)
  return shown.width * shown.height < seen * width * height ? null : box
}

/** The part of the box that lies on the photo. */
export function visible(box: Box, photo: Size): Box {
  const left = Math.max(0, box.left)
  const top = Math.max(0, box.top)
  return {
    left,
    top,
    width: Math.max(0, Math.min(photo.width, box.left + box.width) - left),
    height: Math.max(0, Math.min(photo.height, box.top + box.height) - top),
  }
}
