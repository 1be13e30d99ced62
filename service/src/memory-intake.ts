import { readBody } from './body.ts'
import { imageTypeOf } from './photo-formats.ts'
import { PhotoNotReadable } from './photo-problems.ts'
import type { PhotoIntake } from './ports.ts'

/** Takes photos as they are, for a service that lives in memory: none of them leaves it. */
export const intakeInMemory: PhotoIntake = async (request, limits) => {
  const bytes = await readBody(request, limits)
  if (typeof bytes === 'string') return bytes
  const type = imageTypeOf(bytes)
  if (type === null) throw new PhotoNotReadable()
  return { bytes, type }
}
