/** Engines keep the text that a regular expression has matched last (`RegExp.input`): it gives way to an empty one. */
export const forgetLastMatch = (): void => void /(?:)/.test('')
