import { createFittingRoom, explain, isTryOnError, TryOnError, type TryOn, type TryOnView } from 'fitting-room'

interface Settings {
  baseUrl: string
  key: string
  user?: { id: string }
  storage?: Storage
  timeoutMs?: number
}

/** Options that may be undefined are given as they are. */
export function openRoom({ baseUrl, key, user, storage, timeoutMs }: Settings) {
  return createFittingRoom({
    baseUrl,
    apiKey: async () => key,
    storage,
    photoStore: undefined,
    uniqueUserId: user?.id,
    timing: { requestTimeoutMs: timeoutMs, deadlineMs: 90_000 },
    inspect: ({ type, states, productId }) => console.debug(type, states.join(), productId),
  })
}

export const openTryOn = (settings: Settings, id: string): TryOn =>
  openRoom(settings).tryOn({ productId: id, variantId: 2001, funnelIds: [12, 7] as const })

export function begin(tryOn: TryOn, file: File | undefined, email: string | undefined): Promise<void> {
  return tryOn.start(file, { customerEmail: email, moreLooksConsent: undefined, customKey: undefined })
}

/** What each state is sure to have. */
export function show(view: TryOnView): string | null {
  switch (view.state) {
    case 'restoring':
    case 'idle': {
      const none: null = view.attempt
      return none
    }
    case 'preparing':
      return view.attempt?.id ?? null
    case 'stalled':
      return explain(view.problem)
    case 'submitting':
    case 'needsEmail':
    case 'processing':
      return view.attempt.jobId
    case 'preview':
      return view.preview.imageUrl
    case 'final':
      return view.result.imageUrl
    case 'limitReached':
      return view.message
    case 'unauthorized':
    case 'failed':
    case 'outcomeUnknown':
    case 'rejected':
    case 'protocolError':
      return `${view.attempt.id}: ${explain(view.problem)}`
    default: {
      const all: never = view
      return all
    }
  }
}

export const troubleOf = ({ trouble }: TryOnView): Date | null => trouble && new Date(trouble.nextTryAt - trouble.since)

/** Knowing an error's kind is knowing its problem. */
export function told(error: unknown): string | undefined {
  if (!isTryOnError(error)) return error instanceof TryOnError ? error.message : undefined
  if (error.kind === 'limitReached') return error.problem.message
  if (error.kind === 'notAllowed') {
    const { intent, state } = error.problem
    return intent === 'submitEmail' && state !== 'needsEmail' ? 'too early' : intent
  }
  if (error.kind === 'input') return error.problem.example ?? error.problem.at
  return error.kind === 'internal' && error.problem.sent ? (error.jobId ?? undefined) : explain(error.problem)
}

export async function picture(tryOn: TryOn, signal?: AbortSignal): Promise<string> {
  const { imageUrl } = await tryOn.result({ signal, rejectOnInput: true })
  return imageUrl
}
