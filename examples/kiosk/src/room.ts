import { createFittingRoom } from 'fitting-room'
import { createSession, deviceLimits, newShopperId } from 'fitting-room/kiosk'
import { createWords } from 'fitting-room/words'
import { en } from 'fitting-room/words/en'

/**
 * A display's own address may set its times, in seconds: `?idle=90&warn=20&hold=600`. With `shop`, the address of the shop's
 * page, a phone can take a try-on home; both have the installation that `service` names then, as a ticket is for one.
 */
const settings = new URLSearchParams(location.search)
const msOf = (name: string, usual: number) => Number(settings.get(name) ?? usual) * 1_000

/** Where a phone opens what it takes home; null where nothing can be taken. */
export const shop = settings.get('shop')

const limits = deviceLimits({ perShopper: 6, perHour: 60 })

export const room = createFittingRoom({
  baseUrl: settings.get('service') ?? '/api',
  apiKey: 'sandbox-key',
  uniqueUserId: newShopperId,
  limit: limits,
  keepPictures: true,
})

export const session = createSession(room, {
  idleMs: msOf('idle', 60),
  warnMs: msOf('warn', 15),
  holdMs: msOf('hold', 300),
  limits,
})

export const words = createWords({
  ...en,
  sentences: {
    ...en.sentences,
    idle: 'One photo of you, from the waist up and facing the camera, is all it takes.',
    submitting: 'Your photo is on its way.',
    processing: 'This usually takes under a minute.',
  },
})
