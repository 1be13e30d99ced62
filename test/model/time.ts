import type { Clock } from 'fitting-room'

interface Timer {
  id: number
  at: number
  run: () => void
}

/** Time that only the world moves, one timer after the other, as an event loop does. */
export class Time implements Clock {
  private at = 0
  private last = 0
  /** By when they are due. */
  private readonly timers: Timer[] = []
  private readonly start = Date.UTC(2026, 10, 1)

  now(): number {
    return this.start + this.at
  }

  monotonic(): number {
    return this.at
  }

  setTimeout(run: () => void, ms: number): number {
    const timer = { id: ++this.last, at: this.at + Math.max(0, ms), run }
    let place = this.timers.length
    while (place > 0 && (this.timers[place - 1]?.at ?? 0) > timer.at) place--
    this.timers.splice(place, 0, timer)
    return timer.id
  }

  clearTimeout(timer: unknown): void {
    const place = this.timers.findIndex(({ id }) => id === timer)
    if (place >= 0) this.timers.splice(place, 1)
  }

  /** How many timers wait. */
  get pending(): number {
    return this.timers.length
  }

  /** Moves on to the next timer that is due until then and runs it, else to that time; false where none was due. */
  step(until: number): boolean {
    const [timer] = this.timers
    if (!timer || timer.at > until) {
      this.at = until
      return false
    }
    this.timers.shift()
    this.at = Math.max(this.at, timer.at)
    timer.run()
    return true
  }
}
