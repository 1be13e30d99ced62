/** How long anything may take before it counts as hanging, in ms: no healthy machine is that slow. */
export const hangMs = 120_000

/** Limits against hanging, for every project; whole runs of the model and the kill points are one test each. */
export const limits = {
  testTimeout: 5 * hangMs,
  hookTimeout: hangMs,
  expect: { poll: { timeout: hangMs } },
}

/** For `expect.poll` of what counts each look: a slow machine needs many of them. */
export const seldom = { interval: 1_000 }
