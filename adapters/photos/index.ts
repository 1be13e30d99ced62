export { openCamera, type Camera, type CameraOptions } from './camera.ts'
export { preparePhoto } from './prepare.ts'
export type { PhotoAdvice, PreparedPhoto, PreparePhoto, PrepareTerms, StoredPhoto } from '../../src/ports.ts'
