import type { Generator } from '@fitting-room/service'

const picture = { bytes: new Uint8Array(1), type: 'image/png' }

/** Draws nothing, for the many jobs whose pictures nobody looks at. */
export const blankPictures: Generator = async () => ({ preview: picture, final: picture })
