import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Product } from './Product.tsx'

createRoot(document.getElementById('app') as HTMLElement).render(
  <StrictMode>
    <Product />
  </StrictMode>,
)
