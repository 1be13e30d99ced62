/** Something that whoever prints, clones or inspects its holder does not get to see. */
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
