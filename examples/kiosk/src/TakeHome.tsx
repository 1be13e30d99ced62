import type { TryOn } from 'fitting-room'
import { useRef, useState } from 'react'
import { encode } from 'uqr'

/** The try-on on a phone: the shop's address with its ticket, as a code that a phone's camera reads. */
export function TakeHome({ tryOn, shop }: { tryOn: TryOn; shop: string }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [address, setAddress] = useState<string>()
  async function show() {
    // in the fragment it reaches no server's log
    setAddress(`${shop}#ticket=${await tryOn.ticket()}`)
    dialog.current?.showModal()
  }
  return (
    <>
      <button data-testid="takeHome" onClick={() => show().catch(() => undefined)}>
        Take it home
      </button>
      <dialog ref={dialog} aria-labelledby="take-home">
        <h2 id="take-home">Take it home</h2>
        {address && <Code text={address} />}
        <p>Point your phone’s camera at the code. Whoever has it sees your picture.</p>
        <button className="main" data-testid="close" onClick={() => dialog.current?.close()}>
          Done
        </button>
      </dialog>
    </>
  )
}

function Code({ text }: { text: string }) {
  const { size, data } = encode(text, { border: 4 })
  const dots = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])))
  return (
    <svg
      className="code"
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label="A code for your phone"
      data-testid="code"
      data-text={text}
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={dots.join('')} />
    </svg>
  )
}
