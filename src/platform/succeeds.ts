/** Whether it comes to an end, and not to a failure. */
export const succeeds = (done: Promise<unknown>): Promise<boolean> =>
  done.then(
    () => true,
    () => false,
  )
