import { useTryOn } from 'fitting-room/react'
import { useEffect, useRef, useState } from 'react'
import { pieces } from './pieces.ts'
import { session } from './room.ts'
import { Visit } from './Visit.tsx'

/** One screen for each state of the session. */
export function Kiosk() {
  const view = useTryOn(session)
  const isOn = view.state === 'active' || view.state === 'warning'
  return (
    <div className="kiosk" data-testid="kiosk" data-session={view.state}>
      {view.state === 'ready' && <Attract />}
      {isOn && <Visit />}
      {view.state === 'warning' && <StillThere secondsLeft={view.secondsLeft} />}
      {(view.state === 'restoring' || view.state === 'ending') && (
        <main className="notice">
          <h1>{view.state === 'ending' ? 'Everything of you is being removed' : 'One moment'}</h1>
        </main>
      )}
      {view.state === 'locked' && (
        <main className="notice">
          <div role="alert">
            <h1>This screen is having a break</h1>
            <p>Not all of the last visit could be removed, so nobody can begin. It is tried again by itself.</p>
          </div>
          <button className="main" onClick={() => session.end()}>
            Try again now
          </button>
        </main>
      )}
    </div>
  )
}

function Attract() {
  return (
    <main className="attract">
      <p className="brand">Maison Breton</p>
      <h1>
        See it on you.
        <br />
        Right here.
      </h1>
      <div className="rail" aria-hidden="true">
        {pieces.slice(0, 3).map(({ image, productId }) => (
          <img key={productId} src={image} alt="" />
        ))}
      </div>
      <button className="main large" data-testid="begin" onClick={() => session.begin()} autoFocus>
        Touch to begin
      </button>
      <p className="quiet">Your photo is used for your pictures only, and is removed from this screen when you go.</p>
    </main>
  )
}

/** What a screen reader is told of a countdown: its beginning, and the last seconds. */
const isTold = (seconds: number, first: number) => seconds === first || seconds === 10 || seconds <= 3

function StillThere({ secondsLeft }: { secondsLeft: number }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [first] = useState(secondsLeft)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} role="alertdialog" aria-labelledby="still-there" onCancel={() => session.touch()}>
      <h2 id="still-there">Are you still there?</h2>
      <p className="count" aria-hidden="true" data-testid="count">
        {secondsLeft}
      </p>
      <p role="status" className="unseen">
        {isTold(secondsLeft, first) ? `Your visit ends in ${secondsLeft} seconds` : ''}
      </p>
      <div className="actions">
        <button className="main" data-testid="stay" onClick={() => session.touch()} autoFocus>
          I am still here
        </button>
        <button onClick={() => session.end()}>I am done</button>
      </div>
    </dialog>
  )
}
