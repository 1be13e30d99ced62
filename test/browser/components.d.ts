declare module '*.svelte' {
  const component: import('svelte').Component<any>
  export default component
}

declare module '*?served' {
  const html: string
  export default html
}

declare module '*.solid.jsx' {
  export default function View(props: { of: import('fitting-room').Readable<number> }): import('solid-js').JSX.Element
}

declare module '@babel/core'

declare module 'babel-preset-solid'
declare module '*/names-of-svelte.js' {
  const names: string[]
  export default names
}

/** The README's component for Angular. */
declare module '*/README.md?angular' {
  export const TryOn: import('@angular/core').Type<unknown>
  export const room: import('fitting-room').FittingRoom
}
