import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import type { Tab } from '../engines/engines.ts'
import { findViolations } from '../support/violations.ts'

export const samplePhoto = fileURLToPath(new URL('../../examples/sample/person.png', import.meta.url))

/** What gives a file input a photo, as a shopper does. */
export const choosing = (input: string, photo: Buffer) => `(() => {
  const bytes = Uint8Array.from(atob('${photo.toString('base64')}'), (letter) => letter.charCodeAt(0))
  const files = new DataTransfer()
  files.items.add(new File([bytes], 'person.png', { type: 'image/png' }))
  const input = ${input}
  input.files = files.files
  input.dispatchEvent(new Event('change', { bubbles: true }))
})()`

/** What every example's page has, by the marks that they have in common. */
export function pageIn(tab: Tab) {
  // what is hidden is not there for a shopper
  const marked = (id: string) => `document.querySelector('[data-testid="${id}"]:not([hidden], [hidden] *)')`
  const isThere = (expression: string) => expect.poll(() => tab.run(`!!(${expression})`)).toBe(true)
  return {
    marked,
    isThere: (id: string) => isThere(marked(id)),
    reaches: (state: string) => expect.poll(() => tab.run(`${marked('try-on')}?.dataset.state`)).toBe(state),
    async press(id: string) {
      await isThere(`${marked(id)} && !${marked(id)}.disabled`)
      await tab.run(`${marked(id)}.click()`)
    },
    async choosePhoto(photo?: Buffer) {
      await isThere(marked('photo'))
      await tab.run(choosing(marked('photo'), photo ?? (await readFile(samplePhoto))))
    },
    /** What axe-core finds wrong, by the names of its rules. */
    violations: () => tab.run(findViolations),
  }
}
