/** What shoppers agree to as they start, which is the text `spends`: another version for every change of what it says. */
export const notice = { version: '2026-11' }

/** The consent to it. */
export const consent = { notice: notice.version }
