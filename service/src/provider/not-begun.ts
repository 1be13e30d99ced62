/** A provider has surely not begun the pictures, so that nothing is owed for them. */
export class NotBegun extends Error {
  override readonly name = 'NotBegun'
  /** After how long it may be asked again, in ms; null where it would say the same. */
  readonly againMs: number | null

  constructor(message: string, againMs: number | null, options?: ErrorOptions) {
    super(message, options)
    this.againMs = againMs
  }
}
