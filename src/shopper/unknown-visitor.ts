/** What is known about the room's visitor; null if the service has not said it yet (contract §2, VisitorStatus). */
export interface Visitor {
  /** The service's name of the visitor. */
  uniqueUserId: string | null
  /** Try-ons left before an e-mail is asked for, −1 for no limit; may be old: the submission decides. */
  requestsLeft: number | null
  /** Try-ons counted in this period of collecting addresses. */
  totalRequests: number | null
}

/** A visitor of whom nothing is known but what the application says. */
export const unknownVisitor = (ownId: string | undefined): Visitor => ({
  uniqueUserId: ownId ?? null,
  requestsLeft: null,
  totalRequests: null,
})
