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

/** Nobody who could wear anything is seen in the photo, or nobody who may be shown; the message may be shown to the shopper. */
export class PhotoNotUsable extends Error {
  constructor() {
    super('No person who can try this on was found in the photo')
  }
}
