import type { Job } from '../src/ports.ts'

/** A job that was accepted just now, but for what is given. */
export const queuedJob = (given: Pick<Job, 'id' | 'storeId'> & Partial<Job>): Job => ({
  visitorId: 'shopper',
  product: { id: '1001', title: 'Tee', image: null },
  variantId: '2001',
  test: null,
  funnelType: 'upper_body',
  generationModel: 'SERVICE_PRO',
  photo: { name: 'photo.png' },
  provided: false,
  acceptedAt: Date.now(),
  previewAt: 0,
  readyAt: 0,
  state: 'queued',
  asked: null,
  error: null,
  pictures: null,
  credit: null,
  ...given,
})
