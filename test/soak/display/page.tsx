import { createRoot } from 'react-dom/client'
import { Kiosk } from '../../../examples/kiosk/src/Kiosk.tsx'

createRoot(document.body.appendChild(document.createElement('div'))).render(<Kiosk />)
