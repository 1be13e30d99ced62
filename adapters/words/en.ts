import { isJobUnknown, nothingSent } from './protocol-error.ts'
import type { Texts } from './words.ts'

const photos = {
  missing: 'Please choose your photo again.',
  empty: 'This file is empty. Please choose another photo.',
  type: 'This file is not a photo that can be used. JPEG, PNG, WebP, HEIC and AVIF work.',
  unreadable: 'This file could not be read. Please choose another photo.',
  url: 'This photo has no usable address.',
  unprepared: 'Part of this page could not be loaded, so your photo was not sent. Please try again.',
  camera: 'The camera cannot be used. Please choose a photo instead.',
} as const

const advice = {
  small: 'This photo is very small.',
  narrow: 'This photo is a very narrow strip.',
  dark: 'This photo is almost black.',
  own: 'This photo may not give a good picture.',
} as const

const noAccess = 'The shop has no access to the fitting room right now.'

/** English. */
export const en: Texts = {
  language: 'en',
  titles: {
    restoring: 'One moment…',
    idle: 'See it on you',
    preparing: 'Getting your photo ready',
    submitting: 'Sending it to the fitting room',
    needsEmail: 'One thing first',
    processing: 'Your try-on is being made',
    preview: 'Almost there',
    stalled: ({ problem }) =>
      problem?.kind === 'core' ? 'The fitting room did not load' : 'This is taking longer than usual',
    unauthorized: 'The fitting room is closed right now',
    final: 'There you are',
    failed: 'That did not work',
    outcomeUnknown: 'We got no clear answer',
    limitReached: 'That is all for now',
    rejected: 'We could not start this try-on',
    protocolError: (view) =>
      isJobUnknown(view) ? 'This try-on is not known any more' : 'Something unexpected came back',
  },
  sentences: {
    restoring: 'Looking whether you were already trying this on.',
    idle: 'Add a photo of yourself, facing the camera. It should show where this is worn.',
    preparing: 'Your photo is on its way.',
    submitting: 'Please keep this page open for a moment.',
    needsEmail: 'The shop asks for your e-mail address before the next try-on.',
    processing: ({ durable }) =>
      `This usually takes less than a minute.${durable ? ' You can leave this page: it goes on.' : ''}`,
    preview: 'This is a first look. The finished picture is on its way.',
    stalled: ({ attempt, problem }) => {
      if (problem?.kind === 'core') return 'Nothing new was sent.'
      return attempt?.jobId
        ? 'Your try-on may still be finished. To keep waiting costs nothing; a new one can cost another try-on.'
        : 'No try-on was started so far.'
    },
    unauthorized: ({ attempt, durable }) =>
      `The shop has to renew its access. ${durable ? 'Your try-on is kept' : 'Your try-on waits here'}${attempt?.jobId ? '; a new one can cost another try-on' : ''}.`,
    final: ({ problem }) => (problem?.kind === 'picture' ? 'Your try-on is finished.' : 'Your picture is ready.'),
    failed: 'The picture could not be made. Another photo may work better.',
    outcomeUnknown: 'Your try-on may already be under way; trying again can cost another try-on.',
    limitReached: 'You have reached the number of try-ons for now.',
    rejected: 'Nothing was started, and nothing was counted.',
    protocolError: (view) =>
      `${isJobUnknown(view) ? 'The fitting room does not have it any more.' : 'The answer could not be understood, so we stopped rather than guess.'} ${nothingSent(view) ? 'No try-on was started.' : 'Trying again can cost another try-on.'}`,
  },
  intents: {
    start: 'Try it on',
    submitEmail: 'Continue',
    resume: 'Go on',
    retry: 'Try again',
    startOver: 'Choose another photo',
    discard: 'Forget this try-on',
  },
  intentsIn: {
    idle: { resume: 'Look again' },
    preparing: { startOver: 'Cancel' },
    submitting: { startOver: 'Cancel' },
    needsEmail: { startOver: 'No, thanks' },
    processing: { startOver: 'Leave this one' },
    preview: { startOver: 'Leave this one' },
    stalled: {
      resume: ({ attempt, problem }) => {
        if (problem?.kind === 'core') return 'Try again'
        return attempt?.jobId ? 'Keep waiting' : 'Send it now'
      },
      retry: 'Start a new one',
    },
    unauthorized: { resume: 'Try now', retry: 'Start a new one' },
    final: { retry: 'Use one more try-on' },
    outcomeUnknown: { retry: 'Start a new one' },
    protocolError: { resume: 'Look again', retry: 'Start a new one' },
  },
  problems: {
    refused: ({ operation, status }) => {
      if (operation === 'registerCustomer') return 'This address was not accepted. Please check it.'
      if (operation === 'putPhoto' && status === 415) return photos.type
      return status === 404
        ? 'This piece is not in the fitting room yet.'
        : 'The fitting room did not accept this request.'
    },
    key: noAccess,
    emailRequired: 'The shop asks for your e-mail address first.',
    limitReached: 'You have reached the number of try-ons for now.',
    throttled: 'There is a lot going on right now.',
    unavailable: 'The connection is not working right now.',
    notSent: 'The connection is not working right now. No try-on was started.',
    outcomeUnknown: 'Nobody can tell whether your try-on was started.',
    protocol: 'The fitting room gave an answer that could not be understood.',
    interrupted: 'The page was closed before the answer came. Nobody can tell whether your try-on was started.',
    jobFailed: 'The fitting room could not make a picture of this photo.',
    deadline: 'The picture may still be finished.',
    photo: ({ reason }) => photos[reason],
    photoAdvice: ({ advice: about, message }) =>
      message ?? `${advice[about]} Another photo would give a better picture.`,
    input: ({ at }) => {
      if (at === 'baseUrl') return noAccess
      if (at === 'consent.notice') return 'Please agree to what is said about your photo first.'
      return at.toLowerCase().includes('email') ? 'Please check the e-mail address.' : 'Please check what you entered.'
    },
    deviceLimit: ({ limit }) =>
      limit === 'perShopper'
        ? 'You have had all the try-ons that this screen gives one shopper.'
        : 'There have been many try-ons here. Please come back a little later.',
    ticket: ({ reason }) =>
      ({
        noJob: 'There is nothing yet that you could take along.',
        broken: 'This code is not complete. Please scan it once more.',
        foreign: 'This code is of another shop.',
        old: 'This code is too old.',
        repeated: 'You have this try-on here already.',
      })[reason],
    picture: ({ reason }) =>
      ({
        none: 'There is no picture yet.',
        gone: 'This picture is not kept any more.',
        unreadable: 'This picture could not be loaded. Please try again.',
      })[reason],
    storage: 'This browser could not save or remove that.',
    storageUnreadable: 'This browser does not let us see whether you were already trying this on.',
    recordUnreadable: 'An older try-on of this piece could not be read. It was left as it is.',
    consentExpired: 'It took too long, so we stopped before a try-on was started.',
    notAllowed: 'That is not possible right now. Please look at what is shown by now.',
    paidJob: 'Your try-on may be under way, and forgetting it does not take it back.',
    stopped: ({ reason }) =>
      reason === 'unanswered'
        ? 'Another open page of this shop did not answer. Please close it, or go on there.'
        : 'This try-on was ended here.',
    core: ({ reload }) =>
      reload
        ? 'Part of this page could not be loaded. Please try again, or reload the page.'
        : 'Part of this page could not be loaded. Please try again.',
    internal: ({ sent }) =>
      sent
        ? 'Something broke. Your try-on may be under way; trying again can cost another try-on.'
        : 'Something broke. No try-on was started.',
  },
  troubles: {
    offline: 'You are offline. It goes on when you are back.',
    unavailable: 'The fitting room is not answering. It goes on by itself.',
    throttled: 'There is a lot going on right now. It goes on by itself.',
  },
  progress: {
    upload: (percent) => `${percent} of your photo is uploaded`,
    generation: (percent) => `About ${percent} done`,
  },
  estimate: (seconds) => `About ${seconds} seconds in all`,
  nextTry: (time) => `Next try at ${time}.`,
  despiteAdvice: 'Use it all the same',
  notDurable: 'This browser cannot save your try-on, so please keep this page open.',
  metadataKept: 'Your photo was sent as it is. It may tell where and when it was taken.',
}
