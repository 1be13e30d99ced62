/** Fifty cards, as a page of a shop has them. */
export const cards = Array.from({ length: 50 }, () => document.createElement('p'))
document.body.append(...cards)
