/** What fills the shop's main part, until it is left. */
export interface Page {
  element: HTMLElement
  leave(): void
}
