declare module 'heic-decode' {
  interface HeicImage {
    readonly width: number
    readonly height: number
    /** Its pixels, as RGBA. */
    decode(): Promise<{ data: Uint8ClampedArray }>
  }
  /** The images of a file, of which none is decoded yet. */
  function all(input: { buffer: Uint8Array }): Promise<HeicImage[] & { dispose(): void }>
  export default { all }
}
