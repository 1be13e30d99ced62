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
