import { uploadExpiryMs, type ImageType } from 'fitting-room/contract'
import { randomText } from './random.ts'

/** An upload target: which photo, of which type, until when (epoch ms). */
export interface Upload {
  name: string
  type: string
  expires: number
}

/** Upload targets as URLs that nobody else can make or change. */
export interface Uploads {
  /** A new target for the photo `name`: its path and query, or its whole URL where it is not the service's own. */
  sign(name: string, type: ImageType, now: number): string | Promise<string>
  /** The target that a URL names; null where it was altered or has expired. */
  verify(url: URL, now: number): Upload | null
}

/** Targets that are remembered, for a service that lives in memory anyway. */
export function rememberedUploads(): Uploads {
  const targets = new Map<string, Upload>()
  return {
    sign(name, type, now) {
      const query = new URLSearchParams({ type, signature: randomText() })
      const target = `/photos/${name}?${query}`
      targets.set(target, { name, type, expires: now + uploadExpiryMs })
      return target
    },
    verify({ pathname, search }, now) {
      const target = targets.get(pathname + search)
      return target !== undefined && now < target.expires ? target : null
    },
  }
}
