import { serve } from '@fitting-room/service'
import { openSandbox } from '../support/open-sandbox.ts'

const server = await serve({ config: openSandbox({ previewAfterMs: 150, readyAfterMs: 300 }) }, 0)
console.log(server.url)
