import { createHmac, timingSafeEqual } from 'node:crypto'

/** Where a provider tells of jobs: an address for each, which nobody else can make. */
export interface Webhooks {
  pathOf(jobId: string): string
  isOf(jobId: string, signature: string): boolean
}

export function signedWebhooks(secret: Uint8Array): Webhooks {
  const signatureOf = (jobId: string) => createHmac('sha256', secret).update(`webhook ${jobId}`).digest()
  return {
    pathOf: (jobId) => `/webhooks/${jobId}/${signatureOf(jobId).toString('base64url')}`,
    isOf(jobId, signature) {
      const [given, expected] = [Buffer.from(signature, 'base64url'), signatureOf(jobId)]
      return given.length === expected.length && timingSafeEqual(given, expected)
    },
  }
}
