/** In px, as a photo is to be looked at. */
export interface Size {
  width: number
  height: number
}

/** What the parts of an image file tell. */
export interface FileParts {
  /** Null where it tells none. */
  size: Size | null
  /** Whether its end is there. */
  isWhole: boolean
  /** What makes up the picture, from and to: neither metadata nor what is appended. */
  parts: [from: number, to: number][]
}

/** Those parts of a file, with others in between where its second one begins. */
export function joined(bytes: ArrayBuffer, parts: FileParts['parts'], added: readonly Uint8Array[]): ArrayBuffer {
  const [first, ...rest] = parts.map(([from, to]) => new Uint8Array(bytes, from, to - from))
  const all = [...(first ? [first] : []), ...added, ...rest]
  const whole = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of all) {
    whole.set(part, at)
    at += part.length
  }
  return whole.buffer
}
