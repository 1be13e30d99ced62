import type { TryOnState } from 'fitting-room'
import { mockRoom, views } from 'fitting-room/testing'
import { createRoot } from 'react-dom/client'
import { TryOnPanel } from './Product.tsx'

const states = Object.keys(views) as TryOnState[]
// a product variant for each state
const room = mockRoom(Object.fromEntries(states.map((state, index) => [`1001/${index}`, state])))

createRoot(document.getElementById('app') as HTMLElement).render(
  <main>
    <h1>Every state</h1>
    <div className="states">
      {states.map((state, index) => (
        <article key={state}>
          <code>{state}</code>
          <TryOnPanel tryOn={room.tryOn({ productId: '1001', variantId: index, funnelIds: [11] })} />
        </article>
      ))}
    </div>
  </main>,
)
