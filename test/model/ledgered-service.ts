import { createService, parseConfig, type Job, type Service } from '@fitting-room/service'
import type { Clock } from 'fitting-room'
import { openLedger } from '../support/open-ledger.ts'
import { suiteConfig } from '../support/suite-config.ts'

const previewAfterMs = 4_000
export const readyAfterMs = 8_000

/** The last byte of a photo whose job fails. */
export const failingPhoto = 0xff

/** The real service, with its ledger of jobs laid open: what it denies, a view must not say. */
export interface LedgeredService {
  service: Service
  jobs: ReadonlyMap<string, Job>
}

export function ledgeredService(clock: Clock, publicUrl: string): LedgeredService {
  const { store, jobs } = openLedger()
  const config = parseConfig({
    stores: suiteConfig.stores.slice(0, 1).map((each) => ({ ...each, email: null, tryOnCap: null, credits: null })),
    generation: { previewAfterMs, readyAfterMs },
  })
  // drawing pictures is not what is tested, and there are thousands of jobs
  const picture = { bytes: new Uint8Array(1), type: 'image/png' }
  const generator = async (photo: Uint8Array) => {
    if (photo.at(-1) === failingPhoto) throw new Error('this photo fails')
    return { preview: picture, final: picture }
  }
  return { service: createService({ config, publicUrl, clock, store, generator }), jobs }
}
