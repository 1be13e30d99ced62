/** A listener whose failure is reported like any uncaught error, and stops nothing of the room's. */
export function guarded<T>(listener: (value: T) => void): (value: T) => void {
  return (value) => {
    try {
      listener(value)
    } catch (error) {
      setTimeout(() => {
        throw error
      })
    }
  }
}
