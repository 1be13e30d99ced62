import { createFittingRoom } from 'fitting-room'
import { createClient } from 'fitting-room/client'

const apiKey = 'sandbox-key'
const headers = { 'X-Service-SDK-Key': apiKey, 'Content-Type': 'application/json' }
const imageUrl = 'https://photos.invalid/person.png'
const order = { funnelId: 11, productId: '1001', variantId: '2001', imageUrl }

const read = async (base: string) => (await fetch(`${base}/funnel?funnelIds=11`, { headers })).text()
const none = () => undefined

/** What the connections have carried before the submission. */
const before: Record<string, (base: string) => Promise<unknown>> = {
  /** The preflight is known and no connection is open. */
  async cold(base) {
    const refused = { ...headers, 'X-Service-SDK-Key': 'another-key' }
    await (await fetch(`${base}/generations`, { method: 'POST', headers: refused, body: '{}' })).text()
    await fetch(`${base}/drop`).catch(none)
  },
  warm: read,
  /** The submission's own preflight is what opens the connection. */
  afterPreflight: async () => undefined,
  /** Connections are open that were never used: what they were for was given up. */
  async unused(base) {
    await read(base)
    const ends = new AbortController()
    const { signal } = ends
    const given = Array.from({ length: 6 }, (_, at) => fetch(`${base}/${at}`, { signal, credentials: 'omit' }))
    // each has begun to connect by then
    setTimeout(() => ends.abort())
    await Promise.allSettled(given)
    await read(base)
  },
  afterParallelReads: (base) => Promise.all([read(base), read(base), read(base), read(base)]),
}

/** How a submission is sent; each is one user action and ends when the browser is done with it. */
const senders: Record<string, (base: string) => Promise<unknown>> = {
  bareFetch: (base) =>
    fetch(`${base}/generations`, { method: 'POST', headers, body: JSON.stringify(order) }).catch(none),
  fittingRoom: (base) => createClient({ baseUrl: base, apiKey }).createGeneration(order),
}

async function whilePolling(base: string, send: (base: string) => Promise<unknown>) {
  let polling = true
  const poll = async () => {
    while (polling) await (await fetch(`${base}/generations/${crypto.randomUUID()}`, { headers })).text()
  }
  const polls = poll().catch(none)
  await read(base)
  await send(base)
  polling = false
  await polls
}

/** A PNG of one colour. */
function photo(): Promise<Blob> {
  const canvas = Object.assign(document.createElement('canvas'), { width: 300, height: 400 })
  const context = canvas.getContext('2d')!
  context.fillStyle = 'teal'
  context.fillRect(0, 0, 300, 400)
  return new Promise((resolve) => canvas.toBlob((blob) => resolve(blob!), 'image/png'))
}

/** One room with two try-ons: while the first one polls its job, the second is submitted. */
async function room(base: string) {
  const fittingRoom = createFittingRoom({
    baseUrl: base,
    apiKey,
    namespace: crypto.randomUUID(),
    // a slow machine does not come to the count at which a submission has to wait
    timing: { pollIntervalMs: 200 },
  })
  const reaches = (variantId: string, productId: string, state: string) =>
    new Promise<void>((resolve, reject) => {
      const tryOn = fittingRoom.tryOn({ productId, variantId, funnelIds: [11, 12, 13, 14, 15, 16] })
      tryOn.subscribe((view) => {
        if (view.state === state) resolve()
        else if (view.problem && view.state !== 'submitting') reject(new Error(JSON.stringify(view.problem)))
      })
      void photo()
        .then((given) => tryOn.start(given))
        .catch(reject)
    })
  await reaches('9002', '1009', 'processing')
  await reaches('2001', '1001', 'outcomeUnknown')
  fittingRoom.close()
}

/** One user action after what `condition` says; resolves when the browser is done with it. */
async function run(base: string, sender: string, condition: string): Promise<string> {
  const send = senders[sender]!
  if (sender === 'fittingRoom' && condition === 'whilePolling') await room(base)
  else if (condition === 'whilePolling') await whilePolling(base, send)
  else {
    await before[condition]!(base)
    await send(base)
  }
  return 'done'
}

/** The kind of what a submission came to. */
async function submit(base: string): Promise<string> {
  return (await createClient({ baseUrl: base, apiKey }).createGeneration(order)).kind
}

Object.assign(globalThis, { run, submit })
