/** Nobody has to listen to its failure: a view says it too, or whoever waits for it hears it elsewhere. */
export function quiet<T>(done: Promise<T>): Promise<T> {
  done.catch(() => undefined)
  return done
}
