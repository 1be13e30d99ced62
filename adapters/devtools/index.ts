export { createDevtools, type Devtools } from './devtools.ts'
