/** Numbers from 0 to 1, the same for the same seed and names. */
export function randomOf(...names: (string | number)[]): () => number {
  let state = 2_166_136_261
  for (const char of names.join('/')) state = Math.imul(state ^ char.charCodeAt(0), 16_777_619)
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Normally distributed around 0 with deviation 1. */
export const normal = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
