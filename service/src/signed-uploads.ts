import { createHmac, timingSafeEqual } from 'node:crypto'
import { uploadExpiryMs, type ImageType } from 'fitting-room/contract'
import type { Upload, Uploads } from './uploads.ts'

/** Upload targets as URLs that nobody else can make or change. */
export class SignedUploads implements Uploads {
  readonly #secret: Uint8Array

  constructor(secret: Uint8Array) {
    this.#secret = secret
  }

  sign(name: string, type: ImageType, now: number): string {
    const upload = { name, type, expires: now + uploadExpiryMs }
    const query = new URLSearchParams({ type, expires: String(upload.expires), signature: this.#signature(upload) })
    return `/photos/${name}?${query}`
  }

  verify(url: URL, now: number): Upload | null {
    const name = url.pathname.slice('/photos/'.length)
    const type = url.searchParams.get('type') ?? ''
    const expires = Number(url.searchParams.get('expires'))
    const given = Buffer.from(url.searchParams.get('signature') ?? '', 'base64url')
    const expected = Buffer.from(this.#signature({ name, type, expires }), 'base64url')
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null
    return now < expires ? { name, type, expires } : null
  }

  #signature({ name, type, expires }: Upload): string {
    return createHmac('sha256', this.#secret)
      .update(JSON.stringify([name, type, expires]))
      .digest('base64url')
  }
}
