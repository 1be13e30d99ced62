declare module '@msvargas97/pico.js/build/src/pico.js' {
  /** Tells how much the place at that row and column looks like a face of that size; all in pixels. */
  type Classifier = (row: number, column: number, size: number, pixels: Uint8Array, rowLength: number) => number
  /** A face: the row and column of its middle, its size (px), and how sure it is. */
  type Detection = [row: number, column: number, size: number, score: number]

  export const pico: {
    unpack_cascade(bytes: Int8Array): Classifier
    run_cascade(
      image: { pixels: Uint8Array; nrows: number; ncols: number; ldim: number },
      classifier: Classifier,
      terms: { shiftfactor: number; scalefactor: number; minsize: number; maxsize: number },
    ): Detection[]
    cluster_detections(detections: Detection[], overlap: number): Detection[]
  }
}
