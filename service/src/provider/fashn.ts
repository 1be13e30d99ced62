import type { Funnel, FunnelType } from 'fitting-room/contract'
import * as z from 'zod'
import { PutOff } from '../put-off.ts'
import { PhotoNotReadable, PhotoNotUsable } from '../photo-problems.ts'
import type { Pictures, Progress, Provider } from '../ports.ts'
import { NotBegun } from './not-begun.ts'
import { sendOnce } from './send-once.ts'

export interface FashnParts {
  /** Without a trailing slash. */
  url: string
  key: string
  /** A picture as it is sent: a JPEG of a size that the provider has use for. */
  prepared: (picture: Uint8Array) => Promise<Uint8Array>
  /** What is shown of the picture that came. */
  finished: (picture: Uint8Array) => Promise<Pictures>
  fetchPicture: (url: string) => Promise<Uint8Array>
  /** How long to wait where the provider names no time when it has too much to do, in ms. Default: 5 s. */
  busyMs?: number
}

const model = 'tryon-v1.6'
const categories: Partial<Record<FunnelType, string>> = {
  upper_body: 'tops',
  lower_body: 'bottoms',
  dress: 'one-pieces',
}
const modes: Record<Funnel['generationModel'], string> = {
  SERVICE_PRO: 'quality',
  SERVICE_FAST: 'balanced',
  SERVICE_LIGHT: 'performance',
}

/** Failures that another photo may mend. */
const ofPhoto = ['PoseError', 'ContentModerationError']

/** How long a request may take, in ms: fifty are taken a minute, and six at once. */
const longestMs = 30_000
/** For how long it may have too much to do, in ms, before it is asked again. */
const longestBusyMs = 60_000

/** Names of refusals are words; whatever else is told may be anybody's. */
const word = z.string().regex(/^\w{1,60}$/)
const refusal = z.object({ error: word })
const error = z.object({ name: word.catch('no more than that it failed'), message: z.string() })
const begun = z.object({ id: z.string().min(1) })
const prediction = z.object({
  status: z.string(),
  output: z.array(z.url()).nullish(),
  error: error.nullish(),
})

/** FASHN's virtual try-on, by its public documentation (docs.fashn.ai): a picture is one credit. */
export function fashn({ url, key, prepared, finished, fetchPicture, busyMs = 5_000 }: FashnParts): Provider {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const times = { longestMs, againMs: busyMs }

  const dataUrl = async (picture: Uint8Array) =>
    `data:image/jpeg;base64,${Buffer.from(await prepared(picture)).toString('base64')}`

  return {
    async prepare({ photo, garment, funnelType, generationModel, webhook }) {
      const inputs = {
        model_image: await dataUrl(photo).catch((error: unknown) => {
          throw error instanceof PutOff ? error : new PhotoNotReadable()
        }),
        garment_image: await dataUrl(garment),
        category: categories[funnelType] ?? 'auto',
        mode: modes[generationModel],
      }
      const body = JSON.stringify({ model_name: model, inputs })
      const run = `${url}/run${webhook === null ? '' : `?${new URLSearchParams({ webhook_url: webhook })}`}`
      return async () => {
        const { status, headers: told, text } = await sendOnce(run, { method: 'POST', headers, body, ...times })
        if (status === 200) return begun.parse(jsonIn(text)).id
        // a refusal is no beginning; of whatever else nobody knows
        if (status < 400 || status >= 500 || status === 408) throw new Error(`the provider answered ${status}`)
        const namedMs = Number(told['retry-after']) * 1000
        const waitMs = namedMs > 0 ? Math.min(namedMs, longestBusyMs) : busyMs
        const name = nameIn(text)
        // what is not paid for it does not make later either
        const isBusy = status === 429 && name !== 'OutOfCredits'
        throw new NotBegun(`the provider answered ${status}${name && ` ${name}`}`, isBusy ? waitMs : null)
      }
    },

    async look(id): Promise<Progress> {
      const answer = await sendOnce(`${url}/status/${encodeURIComponent(id)}`, { method: 'GET', headers, ...times })
      if (answer.status !== 200) throw new Error(`the provider answered ${answer.status}`)
      const { status, output, error: problem } = prediction.parse(jsonIn(answer.text))
      if (status === 'failed' || status === 'canceled') {
        const isOfPhoto = ofPhoto.includes(problem?.name ?? '')
        return {
          state: 'failed',
          error: isOfPhoto ? new PhotoNotUsable() : new Error(`the provider says ${problem?.name}`),
        }
      }
      const [picture] = output ?? []
      if (status !== 'completed' || picture === undefined) return { state: 'going' }
      // its address dies: what is told of is a copy
      return { state: 'done', pictures: await finished(await fetchPicture(picture)) }
    },
  }
}

/** What the platform says of a text that is none repeats its beginning, which may be anybody's. */
function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('what the provider answered is no JSON')
  }
}

/** What a refusal is called; empty where it does not say so. */
function nameIn(text: string): string {
  try {
    return refusal.parse(jsonIn(text)).error
  } catch {
    return ''
  }
}
