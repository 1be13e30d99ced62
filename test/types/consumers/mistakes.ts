import { createFittingRoom, TryOnError, type FittingRoomOptions, type TryOn, type TryOnView } from 'fitting-room'
import { createClient } from 'fitting-room/client'
import { viewOf } from 'fitting-room/testing'
import { createWords } from 'fitting-room/words'
import { en } from 'fitting-room/words/en'

declare const view: TryOnView
declare const tryOn: TryOn
declare const error: TryOnError

// @ts-expect-error a key is needed
export const keyless: FittingRoomOptions = { baseUrl: 'https://shop.example/try-on' }

// @ts-expect-error no options at all
export const none = createFittingRoom()

// @ts-expect-error a misspelt option
export const misspelt: FittingRoomOptions = { baseUrl: '/api', apiKey: '', nameSpace: 'a' }

// @ts-expect-error times are numbers
export const texts: FittingRoomOptions = { baseUrl: '/api', apiKey: '', timing: { deadlineMs: '1s' } }

// @ts-expect-error the funnels are missing
export const noFunnels: Parameters<ReturnType<typeof createFittingRoom>['tryOn']> = [{ productId: 1, variantId: 2 }]

// @ts-expect-error there may be no result yet
export const early: string = view.result.imageUrl

// @ts-expect-error nor an attempt
export const attempt: string = view.attempt.id

// @ts-expect-error there is no such state
export const finished: boolean = view.state === 'finished'

// @ts-expect-error a view is not written to
view.message = ''

// @ts-expect-error an address is needed
void tryOn.submitEmail({ name: 'Ada' })

// @ts-expect-error not every problem has a message
export const message: string | undefined = error.problem.message

// @ts-expect-error there is no such kind
export const unknownKind = new TryOnError({ kind: 'unheardOf' })

// @ts-expect-error a room's own gate is not an option
export const gated = createClient({ baseUrl: '/api', apiKey: '', gate: null })

const { retry: _, ...noRetry } = en.intents

// @ts-expect-error a text is missing
export const missing = createWords({ ...en, intents: noRetry })

// @ts-expect-error a text for something that does not exist
export const strange = createWords({ ...en, intents: { ...en.intents, pay: 'Pay' } })

// @ts-expect-error a finished try-on has a result
export const resultless = viewOf('final', { result: null })

// @ts-expect-error a state keeps its group
export const regrouped = viewOf('final', { group: 'busy' })
