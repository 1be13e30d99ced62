import { parseConfig, type Service } from '@fitting-room/service'
import { suiteConfig } from '../../test/support/suite-config.ts'

export const report = (error: unknown) => console.error(error)
export const url = 'http://service.test'
export const headers = { 'X-Service-SDK-Key': 'main-key', 'Content-Type': 'application/json' }

/** One store whose shoppers may have five try-ons, and which has so many credits. */
export const configOf = (credits: number | null) =>
  parseConfig({
    ...suiteConfig,
    stores: suiteConfig.stores.map((store) => ({
      ...store,
      email: null,
      credits,
      tryOnCap: { max: 5, windowSeconds: 3_600, message: 'Enough' },
    })),
  })

/** A submission of that shopper, the one that counts so many before it. */
export function submit(service: Service, at: number, uniqueUserId: string, variantId = '2001'): Promise<Response> {
  const body = JSON.stringify({
    funnelId: 12,
    productId: '1001',
    variantId,
    imageUrl: 'http://service.test/photos/none.png',
    uniqueUserId,
  })
  // each from an address of its own
  const ip = `10.0.${Math.floor(at / 250)}.${at % 250}`
  return service.fetch(new Request(`${url}/generations`, { method: 'POST', headers, body }), { ip })
}
