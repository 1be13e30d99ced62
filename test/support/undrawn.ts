import { intakeInMemory, type Generator } from '@fitting-room/service'

const picture = { bytes: new Uint8Array(1), type: 'image/png' }
const generator: Generator = async () => ({ preview: picture, final: picture })

/** Decodes and draws nothing, for the many jobs whose pictures nobody looks at. */
export const undrawn = { generator, takePhoto: intakeInMemory }
