/** A value that stays hidden when its holder is printed, cloned or inspected. */
export class Private<T> {
  readonly #value: T

  constructor(value: T) {
    this.#value = value
  }

  reveal(): T {
    return this.#value
  }

  toJSON(): string {
    return '[private]'
  }
}
