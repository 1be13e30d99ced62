/** A provider has surely not begun the pictures, so that nothing is owed for them. */
export class NotBegun extends Error {
  override readonly name = 'NotBegun'
}
