type Child = Node | string | null | undefined | false
type Props<K extends keyof HTMLElementTagNameMap> = Partial<
  Omit<HTMLElementTagNameMap[K], 'style' | 'dataset' | 'children' | 'list' | 'attributes'>
> & { attributes?: Record<string, string> }

/** An element with properties, attributes and children; text is always text. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  { attributes = {}, ...props }: Props<K> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  Object.assign(element, props)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children.filter((child) => child instanceof Node || typeof child === 'string'))
  return element
}

/** Tests know it by `testId`. */
export const button = (label: string, onclick: () => unknown, className = 'primary', testId = '') =>
  h('button', { type: 'button', className, onclick: () => void onclick(), ...(testId && marked(testId)) }, label)

export const marked = (testId: string) => ({ attributes: { 'data-testid': testId } })
