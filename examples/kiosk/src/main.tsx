import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Kiosk } from './Kiosk.tsx'

createRoot(document.getElementById('app') as HTMLElement).render(
  <StrictMode>
    <Kiosk />
  </StrictMode>,
)
