import { createFittingRoom } from 'fitting-room'
import { createWords } from 'fitting-room/words'
import { en } from 'fitting-room/words/en'

/** One room for the whole app; it does nothing until a page shows a try-on. */
const room = createFittingRoom({ baseUrl: '/api', apiKey: 'sandbox-key' })

export const words = createWords(en)

export const tryOnOf = (variantId: string) => room.tryOn({ productId: '1001', variantId, funnelIds: [11] })
