/**
 * A product or variant ID: a safe integer, a digit string, or the platform's global ID
 * (`gid://<platform>/Product/1001`). Strings keep every digit, so prefer them (contract §2).
 */
export type StoreId = number | string

/** An integer from 1. */
export const isFunnelId = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 1

/** Whether a value is an ID of that type (contract §2). */
export function isStoreId(type: 'Product' | 'ProductVariant'): (value: unknown) => boolean {
  const pattern = new RegExp(`^(?:gid://[a-z0-9-]+/${type}/)?(?!0$)[0-9]+$`)
  return (value) => isFunnelId(value) || (typeof value === 'string' && pattern.test(value))
}

/** `1001`, `"1001"` and the global ID name one thing: its digits, without leading zeros. */
export function digitsOf(id: StoreId): string {
  const digits = String(id).slice(String(id).lastIndexOf('/') + 1)
  return digits.replace(/^0+(?=.)/, '')
}

/**
 * An absolute http(s) address; the URL parser alone would also take blanks and missing slashes. The pattern matches what is
 * none: engines keep what one has matched last (`RegExp.input`), and of a picture's address nothing is to stay.
 */
export function isHttpUrl(value: unknown): value is string {
  try {
    // `URL.canParse` is of 2023, and of no older browser
    return typeof value === 'string' && !/^(?!https?:\/\/)|\s/i.test(value) && !!new URL(value)
  } catch {
    return false
  }
}
