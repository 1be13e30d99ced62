/** What was chosen at an earlier visit; a browser that keeps a site's data from it throws. */
export function recall(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // the next visit asks anew
  }
}
