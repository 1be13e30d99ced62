import { render } from 'solid-js/web'
import { ProductPage } from './ProductPage.tsx'

render(() => <ProductPage />, document.getElementById('app') as HTMLElement)
