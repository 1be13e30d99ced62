/** The dated label of the interface description that this contract states (contract §9). */
export const contractVersion = '2026-09-28'

/** The window in which one client IP's requests are counted together, in ms (contract §8). */
export const ipWindowMs = 60_000

/** How long an upload target takes a photo, in ms (contract §2, UploadTarget). */
export const uploadExpiryMs = 600_000

/** The recommended time between two polls of one job, in ms (contract §4, rule 8). */
export const pollIntervalMs = 2_000

/** The estimate that POST /generations returns today, in seconds (contract §8). */
export const etaSeconds = 40
