/** The photo could not be had; the message may be shown to the shopper. */
export class PhotoNotAccessible extends Error {
  constructor() {
    super('The photo is not accessible')
  }
}

/** The photo is no picture that can be decoded; the message may be shown to the shopper. */
export class PhotoNotReadable extends Error {
  constructor() {
    super('The photo is not readable as an image')
  }
}
