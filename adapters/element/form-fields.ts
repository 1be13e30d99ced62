/** The fields of forms, which can be made again what the markup has given them. */
interface Fields {
  /** Notes what the markup gives to those that were not seen before. */
  note(form: HTMLFormElement): void
  restore(): void
}

/** What a field of any kind may have. */
type Field = HTMLInputElement &
  Partial<Pick<HTMLSelectElement, 'options' | 'selectedIndex'>> & { formResetCallback?(): void }

export function createFields(): Fields {
  /** As first seen: frameworks write there what is typed. */
  const given = new Map<Field, string>()
  return {
    note(form) {
      for (const field of elementsOf(form)) if (!given.has(field)) given.set(field, givenTo(field))
    },
    restore() {
      for (const [field, value] of given) {
        restore(field, value)
        if (!field.isConnected) given.delete(field)
      }
    },
  }
}

/** Nothing but nothing can be put into a field for files. */
const givenTo = ({ type, defaultValue }: Field) => (type === 'file' ? '' : (defaultValue ?? ''))

/** A field may be named as what a form has of its own. */
const elementsOf = (form: HTMLFormElement) =>
  Object.getOwnPropertyDescriptor(HTMLFormElement.prototype, 'elements')!.get!.call(form) as Iterable<Field>

/** What is neither typed nor chosen. */
const unasked: ReadonlySet<string> = new Set(['hidden', 'submit', 'button', 'reset', 'image'])

/** Makes a field what the markup has given, as if a shopper did: frameworks take notice of nothing else, and hold what they had. */
function restore(field: Field, given: string): void {
  const own = Object.getPrototypeOf(field) as object
  const { type, value, checked } = field
  if (unasked.has(type)) return
  if (field.formResetCallback) field.formResetCallback()
  else if (type === 'checkbox' || type === 'radio') Reflect.set(own, 'checked', field.defaultChecked, field)
  else if (field.options) {
    for (const option of field.options) option.selected = option.defaultSelected
    // one that is shown as a list may have none
    if (!field.multiple && field.size < 2 && field.selectedIndex === -1) field.selectedIndex = 0
  } else if ('value' in own) Reflect.set(own, 'value', given, field)
  const isTurned = field.checked !== checked
  if (!isTurned && field.value === value) return
  // as it is no MouseEvent, a click changes nothing by itself
  for (const name of [...(isTurned ? ['click'] : []), 'input', 'change'])
    field.dispatchEvent(new Event(name, { bubbles: true }))
}
