import { createHmac, timingSafeEqual } from 'node:crypto'
import { uploadExpiryMs, type ImageType } from 'fitting-room/contract'

/** The largest photo that an upload target takes, in bytes. */
export const largestPhoto = 20 * 1024 * 1024

/** An upload target: which photo, of which type, until when (epoch ms). */
export interface Upload {
  name: string
  type: string
  expires: number
}

/** Upload targets as URLs that nobody else can make or change. */
export class SignedUploads {
  readonly #secret: Uint8Array

  constructor(secret: Uint8Array) {
    this.#secret = secret
  }

  /** The path and query of a new target for the photo `name`. */
  sign(name: string, type: ImageType, now: number): string {
    const upload = { name, type, expires: now + uploadExpiryMs }
    const query = new URLSearchParams({ type, expires: String(upload.expires), signature: this.#signature(upload) })
    return `/photos/${name}?${query}`
  }

  /** The target that a URL names; null where it was altered or has expired. */
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
