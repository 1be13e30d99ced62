/** What another page may take to go on after the owner's lock is free or its lease has ended, in ms. */
export const handOverMs = 2_000
/** How long a lease lasts that nobody renews, in ms. */
export const leaseMs = 2_000
