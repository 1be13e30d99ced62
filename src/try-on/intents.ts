import { TryOnError } from '../rules/try-on-error.ts'
import { Private } from '../../machines/private.ts'
import { probes } from '../../machines/probes.ts'
import type { TryOnEvent } from '../../machines/try-on.types.ts'
import { email, uploadRequest } from '../contract/resources.ts'
import * as is from '../contract/schema.ts'
import { newId } from '../platform/new-id.ts'
import type { PassedCall } from '../pages/tabs.ts'
import type { Notice } from '../ports.ts'
import { plainPhoto, type PhotoInput } from '../shopper/photo-input.ts'
import { roomPhoto, type Photos, type RoomPhoto } from '../shopper/photos.ts'
import type { EmailForm, StartOptions } from './try-on.types.ts'

/** A word for one submission, of the attempt that it names. */
export type ConsentCall = {
  intent: 'start' | 'retry'
  attemptId: string
  photo: PhotoInput | null
  /** Without a photo it is the one that the shopper's page shows; null where it shows none. */
  kept: RoomPhoto | null
  options: StartOptions
}

/** An intent with what was given to it. */
export type Call =
  | ConsentCall
  | { intent: 'submitEmail'; form: EmailForm }
  | { intent: 'discard'; abandonPaidJob: boolean }
  | { intent: 'resume' | 'startOver' }

export const isConsent = (call: Call): call is ConsentCall => call.intent === 'start' || call.intent === 'retry'
export const isLeaving = ({ intent }: Call): boolean => intent === 'startOver' || intent === 'discard'

/** A word of the shopper for one submission, in plain values that can be passed on to another page. */
export function consentCall(
  intent: 'start' | 'retry',
  kept: RoomPhoto | null,
  photo?: PhotoInput | null,
  { customerEmail, customKey, moreLooksConsent, despiteAdvice, consent }: StartOptions = {},
): Call {
  const attemptId = newId()
  const options = { customerEmail, customKey, moreLooksConsent, despiteAdvice, consent }
  return { intent, attemptId, photo: photo ? plainPhoto(photo) : null, kept, options }
}

/** A call that another page has passed on: its parts are looked at as anybody's are, once it is carried out. */
export function passedCall(call: PassedCall): Call {
  const { intent, attemptId, photo = null, kept = null, options = {}, form = {}, abandonPaidJob } = call
  return {
    intent,
    attemptId: is.text.safeParse(attemptId).data ?? newId(),
    photo,
    kept,
    options: Object(options),
    form: Object(form),
    abandonPaidJob: abandonPaidJob === true,
  } as Call
}

/** The event that asks the machine whether an intent is permitted. */
export const permissionOf = (call: Call): TryOnEvent =>
  call.intent === 'discard' ? { type: call.intent, abandonPaidJob: call.abandonPaidJob } : probes[call.intent]

/** The event that carries an intent out; throws a `TryOnError` where what was given cannot be used. */
export async function eventOf(call: Call, photos: Photos, isWanted: () => boolean): Promise<TryOnEvent> {
  if (call.intent === 'submitEmail') {
    check(email.safeParse(call.form.email).success, 'email', anAddress)
    return { type: call.intent, form: new Private(call.form) }
  }
  if (!isConsent(call)) return permissionOf(call)
  const { customerEmail, despiteAdvice = false, consent, ...terms } = call.options
  const { id: photoId, metadataKept } = await photoOf(call, despiteAdvice, photos, isWanted)
  const { intent, attemptId } = call
  const address = customerEmail === undefined ? undefined : new Private(customerEmail)
  const agreed = { ...terms, notice: consent?.notice, customerEmail: address }
  return { type: intent, consent: { attemptId, isRetry: intent === 'retry', photoId, metadataKept, ...agreed } }
}

async function photoOf(
  { photo, kept }: ConsentCall,
  despiteAdvice: boolean,
  photos: Photos,
  isWanted: () => boolean,
): Promise<RoomPhoto> {
  if (photo !== null) return photos.keep(photo, despiteAdvice, isWanted)
  if (!roomPhoto.safeParse(kept).success || kept === null) throw new TryOnError({ kind: 'photo', reason: 'missing' })
  photos.takeOver(kept)
  return kept
}

/** Throws a `TryOnError` where a consent cannot be given so; `notice` is what it is to name. */
export function checkConsent({ options }: ConsentCall, notice: Notice | undefined, isPassed = false): void {
  const { customerEmail, customKey, consent, ...flags } = options
  for (const at of ['moreLooksConsent', 'despiteAdvice'] as const)
    check(flags[at] === undefined || typeof flags[at] === 'boolean', at)
  check(customerEmail === undefined || email.safeParse(customerEmail).success, 'customerEmail', anAddress)
  check(uploadRequest.safeParse({ contentType: 'image/jpeg', customKey }).success, 'customKey')
  const isNamed = namedConsent.safeParse(consent).success && (!notice || consent !== undefined)
  // who was shown another version has not agreed to this one; what another page has shown it has looked at itself
  const isMeant = !notice || isPassed || consent?.notice === notice.version
  check(isNamed && isMeant, 'consent.notice', notice?.version)
}

const anAddress = 'name@host'

const namedConsent = is.optional(is.object({ notice: is.nonEmpty }))

function check(isRight: boolean, at: string, valid?: string): void {
  if (!isRight) throw new TryOnError({ kind: 'input', at, valid })
}
