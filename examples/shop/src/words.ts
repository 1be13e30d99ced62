import type { Problem, TryOnState, TryOnView } from 'fitting-room'

/** What every state is called to the shopper. */
export const titles: Record<TryOnState, string> = {
  restoring: 'One moment…',
  idle: 'See it on you',
  preparing: 'Getting your photo ready',
  submitting: 'Sending it to the fitting room',
  needsEmail: 'One thing first',
  processing: 'Your try-on is being made',
  preview: 'Almost there',
  stalled: 'This is taking longer than usual',
  unauthorized: 'The fitting room is closed right now',
  final: 'There you are',
  failed: 'That did not work',
  outcomeUnknown: 'We lost the connection',
  limitReached: 'That is all for now',
  rejected: 'We could not start this try-on',
  protocolError: 'Something unexpected came back',
}

/** What happened, in a sentence that promises nothing untrue. */
export const sentences: Record<TryOnState, string> = {
  restoring: 'Looking whether you were already trying this on.',
  idle: 'Add a photo of yourself, from the waist up and facing the camera.',
  preparing: 'Your photo is on its way.',
  submitting: 'Please keep this page open for a moment.',
  needsEmail: 'The shop asks for your e-mail address before the next try-on.',
  processing: 'This usually takes less than a minute. You can leave this page: it goes on.',
  preview: 'This is a first look. The finished picture is on its way.',
  stalled: 'Your try-on may still finish. You can keep waiting; that costs nothing.',
  unauthorized: 'The shop has to renew its access. Your try-on is kept, and goes on by itself when it has.',
  final: 'Drag the line to compare.',
  failed: 'The picture could not be made. Another photo may work better.',
  outcomeUnknown:
    'We do not know whether your try-on was started. Trying again starts a new one, which may count as a second try-on.',
  limitReached: 'You have reached the number of try-ons for now.',
  rejected: 'Nothing was started, and nothing was counted.',
  protocolError: 'The answer could not be understood, so we stopped rather than guess.',
}

/** What a problem means to the shopper; null where the state says enough. */
export function problemText(problem: Problem | null): string | null {
  switch (problem?.kind) {
    case 'photo':
      return photoTexts[problem.reason]
    case 'input':
      return problem.at.toLowerCase().includes('email')
        ? 'Please check the e-mail address.'
        : 'Please check your input.'
    case 'refused':
      if (problem.operation === 'registerCustomer') return 'This address was not accepted. Please check it.'
      return problem.status === 404
        ? 'This piece is not in the fitting room yet.'
        : 'The fitting room did not accept this request.'
    case 'unavailable':
    case 'notSent':
      return 'The connection is not working right now.'
    case 'storageUnreadable':
      return 'This browser does not let us see whether you were already trying this on.'
    case 'recordUnreadable':
      return 'An older try-on of this piece could not be read; it was left as it is.'
    case 'consentExpired':
      return 'You were away for a while, so we stopped before sending anything.'
    case 'jobFailed':
      return `${problem.error}.`
    case 'storage':
      return 'This browser would not save your try-on, so nothing was sent.'
    default:
      return null
  }
}

const photoTexts = {
  missing: 'Please choose your photo again.',
  empty: 'This file is empty. Please choose another photo.',
  type: 'This file is not a photo we can use. JPEG, PNG, WebP, HEIC and AVIF work.',
  unreadable: 'This file could not be read. Please choose another photo.',
  url: 'This photo has no usable address.',
} as const

/** What a screen reader hears when the state changes. */
export const announcement = (view: TryOnView) =>
  [titles[view.state], view.message ?? sentences[view.state], problemText(view.problem)].filter(Boolean).join(' ')

export const bytes = (count: number) =>
  count < 1_000_000 ? `${Math.max(1, Math.round(count / 1000))} kB` : `${(count / 1_000_000).toFixed(1)} MB`
