import 'react'

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'fitting-room-try-on': { [attribute: string]: unknown }
    }
  }
}
