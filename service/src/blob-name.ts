/** What may be asked for by name, from outside too: nothing that leads elsewhere in a path or a URL, and no longer than a file's name. */
export const isBlobName = (name: string): boolean => /^[\w-][\w.-]{0,199}$/.test(name)
