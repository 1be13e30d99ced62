import { createSandbox } from '@fitting-room/service/sandbox'
import { createFittingRoom } from 'fitting-room'
import { manualClock } from 'fitting-room/testing'

/** What the guide to testing shows of flows. */
export function flows() {
  const clock = manualClock()
  const sandbox = createSandbox({ clock })
  const { fetch, putPhoto } = sandbox
  const flow = createFittingRoom({ baseUrl: sandbox.baseUrl, apiKey: 'sandbox-key', clock, fetch, putPhoto })
  return { clock, sandbox, flow }
}
