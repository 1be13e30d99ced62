import { createFalClient } from '@fal-ai/client'
import Fashn from 'fashn'
import { createFittingRoom, type Clock } from 'fitting-room'
import OpenAI from 'openai'
import Replicate from 'replicate'
import type { Dialect } from './server.ts'

/** One client as its documentation has it used, with its own defaults, for one user action that pays for one picture. */
export interface BenchedClient {
  name: string
  dialect: Dialect
  /** Resolves with the picture's URL. */
  act(baseUrl: string): Promise<string>
}

const picture = 'http://127.0.0.1/picture.png'
const idIn = (path: string, poll: RegExp) => poll.exec(path)?.[1] ?? ''

const contract: Dialect = {
  submission: /^\/generations$/,
  accepted: (jobId) => ({ data: { jobId, etaSeconds: 40, uniqueUserId: 'visitor' } }),
  poll: /^\/generations\/([^/?]+)/,
  polled: (_, done) => ({
    data: done
      ? { status: 'SUCCESS', imageUrl: picture, requestsLeft: -1, totalRequests: 1, uniqueUserId: 'visitor' }
      : { status: 'PROCESSING' },
  }),
  other: () => ({ data: { id: 12, funnelType: 'upper_body', generationModel: 'SERVICE_FAST' } }),
}

/** Real time twenty times as fast, so that waits between polls that fail take seconds and not minutes. */
const fast: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (run, ms) => setTimeout(run, ms / 20),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
}

const fittingRoom: BenchedClient = {
  name: 'fitting-room',
  dialect: contract,
  async act(baseUrl) {
    const room = createFittingRoom({ baseUrl, apiKey: 'key', clock: fast })
    const tryOn = room.tryOn({ productId: '1001', variantId: '2001', funnelIds: [12] })
    try {
      const result = tryOn.result()
      await tryOn.start({ imageUrl: 'https://photos.example/person.png' })
      return (await result).imageUrl
    } finally {
      room.close()
    }
  },
}

const bareFetch: BenchedClient = {
  name: 'bare fetch',
  dialect: contract,
  async act(baseUrl) {
    const json = async (path: string, init?: RequestInit) => {
      const answer = await fetch(baseUrl + path, init)
      if (!answer.ok) throw new Error(`status ${answer.status}`)
      return (await answer.json()) as { data: { jobId: string; status: string; imageUrl: string } }
    }
    const { jobId } = (await json('/generations', { method: 'POST', body: '{}' })).data
    for (;;) {
      const { data } = await json(`/generations/${jobId}`)
      if (data.status === 'SUCCESS') return data.imageUrl
      await new Promise((resolve) => setTimeout(resolve, 500))
    }
  },
}

const falPoll = /^\/fal-ai\/flux\/requests\/([^/?]+)/
const fal: BenchedClient = {
  name: '@fal-ai/client',
  dialect: {
    submission: /^\/fal-ai\/flux\/dev/,
    accepted: (jobId) => ({ request_id: jobId }),
    poll: falPoll,
    polled: (path, done) =>
      path.includes('/status')
        ? { status: done ? 'COMPLETED' : 'IN_PROGRESS', request_id: idIn(path, falPoll) }
        : { images: [{ url: picture }] },
  },
  async act(baseUrl) {
    const client = createFalClient({
      credentials: 'key',
      // it has no option for its address
      fetch: (input, init) => {
        const { pathname, search } = new URL(input instanceof Request ? input.url : String(input))
        return fetch(baseUrl + pathname + search, init)
      },
    })
    const { data } = await client.subscribe('fal-ai/flux/dev', { input: { prompt: 'a coat' } })
    return (data as { images: { url: string }[] }).images[0]!.url
  },
}

const replicatePoll = /^\/v1\/predictions\/([^/?]+)/
const replicate: BenchedClient = {
  name: 'replicate',
  dialect: {
    submission: /^\/v1\/models\/.*\/predictions$/,
    accepted: (id) => ({ id, status: 'starting' }),
    poll: replicatePoll,
    polled: (path, done) => ({
      id: idIn(path, replicatePoll),
      status: done ? 'succeeded' : 'processing',
      output: done ? [picture] : null,
    }),
  },
  async act(baseUrl) {
    const client = new Replicate({ auth: 'key', baseUrl: `${baseUrl}/v1`, useFileOutput: false })
    return String(await client.run('black-forest-labs/flux-dev', { input: { prompt: 'a coat' } }))
  },
}

const fashnPoll = /^\/v1\/status\/([^/?]+)/
const fashn: BenchedClient = {
  name: 'fashn',
  dialect: {
    submission: /^\/v1\/run$/,
    accepted: (id) => ({ id, error: null }),
    poll: fashnPoll,
    polled: (path, done) => ({
      id: idIn(path, fashnPoll),
      status: done ? 'completed' : 'processing',
      output: done ? [picture] : null,
      error: null,
    }),
  },
  async act(baseUrl) {
    const client = new Fashn({ apiKey: 'key', baseURL: baseUrl })
    const result = await client.predictions.subscribe({
      model_name: 'tryon-v1.6',
      inputs: { model_image: 'https://photos.example/person.png', garment_image: 'https://photos.example/tee.png' },
    })
    if (result.status !== 'completed') throw new Error(`ended as ${result.status}`)
    return String(result.output?.[0])
  },
}

const openaiPoll = /^\/v1\/responses\/([^/?]+)/
const openai: BenchedClient = {
  name: 'openai',
  dialect: {
    submission: /^\/v1\/responses$/,
    accepted: (id) => ({ id, object: 'response', status: 'queued', output: [] }),
    poll: openaiPoll,
    polled: (path, done) => ({
      id: idIn(path, openaiPoll),
      object: 'response',
      status: done ? 'completed' : 'in_progress',
      output: done ? [{ type: 'message', content: [{ type: 'output_text', text: picture, annotations: [] }] }] : [],
    }),
  },
  async act(baseUrl) {
    const client = new OpenAI({ apiKey: 'key', baseURL: `${baseUrl}/v1` })
    let response = await client.responses.create({ model: 'gpt-5', input: 'a coat', background: true })
    while (response.status === 'queued' || response.status === 'in_progress') {
      await new Promise((resolve) => setTimeout(resolve, 500))
      response = await client.responses.retrieve(response.id)
    }
    return response.output_text
  },
}

export const clients: readonly BenchedClient[] = [fittingRoom, bareFetch, fal, replicate, fashn, openai]
