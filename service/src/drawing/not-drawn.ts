import { PhotoNotReadable } from '../photo-problems.ts'
import { PutOff } from '../put-off.ts'

/** A picture took more than a process may take. */
export class TookTooMuch extends Error {
  constructor() {
    super('a picture took too long or too much')
  }
}

/** Processes have ended with it again and again; whether it is the picture's fault nobody knows. */
export class EndsProcesses extends Error {
  constructor() {
    super('processes ended that drew a picture')
  }
}

/** With which signal a process ends itself that takes too much: nobody else sends it. */
export const spentSignal = 'SIGVTALRM'

/** A photo that takes too much to be decoded; its own shopper hears what is told of every other that cannot be. */
export class PhotoTooCostly extends PhotoNotReadable {}

/** There is no process for it, or none any more: somebody else may draw it. */
export class DrawingEnded extends PutOff {
  constructor() {
    super('there was no process to draw a picture')
  }
}

/** How many photos of one client may wait. */
export const mostOfClient = 20

/** So many of them wait already. */
export class LineFull extends Error {
  constructor() {
    super('too many photos of one client wait to be looked at')
  }
}
