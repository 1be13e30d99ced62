import type { Situation } from './outcome.ts'
import type { DoorProblemKind, ProblemTexts } from './explain.ts'

const said = (of: { status: number | null; error: string | null; situation: Situation }) =>
  ` (${of.status === null ? of.situation : of.error === null ? of.status : `${of.status}: ${of.error}`})`

const at = (path: string | undefined) => (path === undefined ? '' : ` at "${path}"`)
const noService = ' with nothing of the service; is baseUrl its address?'

/** What a room's problems say to developers; the door's own are its own, and those of tickets and pictures come with them. */
export const roomTexts: Omit<ProblemTexts, DoorProblemKind | 'ticket' | 'picture'> = {
  refused: (of) =>
    of.at === undefined
      ? `${of.operation} was refused${said(of)}; correct it and start anew`
      : `${of.operation} was not sent: "${of.at}" breaks the contract`,
  key: ({ situation }) =>
    situation === 'noKey'
      ? 'apiKey gave no key that a header can hold; resume() when it does'
      : 'the API key was refused; resume() with a valid one',
  emailRequired: 'an e-mail address is asked for first; submitEmail() gives it',
  limitReached: 'the try-on limit is reached',
  throttled: ({ operation }) => `${operation} has to wait: too many requests`,
  unavailable: (of) => `${of.operation} got no usable answer${said(of)}; resume() asks again`,
  notSent: ({ operation, situation }) => `${operation} could not be sent (${situation})`,
  outcomeUnknown: (of) => `the submission may have started a job${said(of)}; retry() pays for a new one`,
  protocol: (of) =>
    of.operation === 'getGeneration' && of.status === 404
      ? `the service knows no such job${said(of)}; retry() pays for a new one`
      : `${of.operation} answered against the contract${said(of)}${of.at === '' ? noService : at(of.at)}`,
  interrupted: 'the page ended before the answer; retry() pays for a new one',
  jobFailed: ({ error }) => `the job failed: ${error}`,
  deadline: 'the job is not finished; resume() polls again',
  photo: ({ reason }) => photoTexts[reason],
  photoAdvice: ({ advice, message }) =>
    `advice against the photo: ${message ?? advice}; { despiteAdvice: true } takes it all the same`,
  deviceLimit: ({ limit }) => `no more from this device: ${limit} is reached`,
  storage: 'storage did not save or remove that, so it was not done',
  storageUnreadable: 'storage could not be read; resume() reads it again',
  recordUnreadable: 'a stored record could not be read; start() goes elsewhere',
  consentExpired: 'the consent is too old, so nothing was sent; start() or resume() gives another',
  internal: ({ sent }) => `something broke; ${sent ? 'the submission may have been' : 'nothing was'} sent`,
  notAllowed: ({ intent, state }) => `${intent}() is not allowed in state "${state}"`,
  paidJob: 'a paid job may be running; discard({ abandonPaidJob: true }) forgets it',
}

const takes = '; start(photo) takes a File, a Blob, { bytes } or an http(s) { imageUrl }'

const photoTexts = {
  missing: `there is no photo${takes}`,
  empty: 'the photo is empty',
  type: 'the photo is no JPEG, PNG, WebP, HEIC, HEIF or AVIF',
  unreadable: 'the photo could not be read',
  url: `this is no photo${takes}`,
  unprepared: 'the code for photos could not be loaded',
  camera: 'no camera may be used',
} as const
