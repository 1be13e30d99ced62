const bytesOf = (base64: string): ArrayBuffer => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)).buffer

/** A lossless WebP of 600 × 600 px: a red top, a blue left of what is below, a green right. */
export const webp = (): ArrayBuffer =>
  bytesOf(
    'UklGRlYAAABXRUJQVlA4TEkAAAAvV8KVABcgEEjaH3qN+RcQFPk/2vwHXwrIhCGUVFJW/yL6PwHjf/7nf/7nf/7nf/7nf/4H/TztU/7jP/7jP/7jP/7jP/7jPzsDAA==',
  )

/** A black PNG of 1 × 140,000 px. */
export const longPng = (): ArrayBuffer =>
  bytesOf(
    `iVBORw0KGgoAAAANSUhEUgAAAAEAAiLgCAAAAAD9YXy6AAAACXBIWXMAAAPoAAAD6AG1e1JrAAABJklEQVR42u3BMQEAAADCoPVPbQlPo${'A'.repeat(361)}B4GEX8AAEWGyC0AAAAAElFTkSuQmCC`,
  )
