import './cards.ts'

Object.assign(globalThis, { idle: performance.now() })
