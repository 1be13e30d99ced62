export { createRoom } from '../room.ts'
// a bundler that puts what two chunks share into a third one (esbuild) finds the whole door shared, and makes one chunk of it
export { createFittingRoom } from './room.ts'
