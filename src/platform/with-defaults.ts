/** The defaults, with what was chosen in their place; an option that is undefined was not chosen. */
export function withDefaults<T extends object>(
  defaults: T,
  chosen: { [Name in keyof T]?: T[Name] | undefined } = {},
): T {
  return { ...defaults, ...Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined)) }
}
