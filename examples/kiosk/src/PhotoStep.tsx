import type { StartOptions } from 'fitting-room'
import { openCamera, type Camera } from 'fitting-room/photos'
import { useTryOn } from 'fitting-room/react'
import { useEffect, useRef, useState } from 'react'
import { useObjectUrl } from './picture-address.ts'
import type { Piece } from './pieces.ts'
import { room, session } from './room.ts'

interface PhotoStepProps {
  piece: Piece
  /** There is advice against the photo that was given. */
  isAdvised: boolean
  /** The shopper's word for one try-on; without a photo it is the last one again. */
  onPhoto: (photo?: Blob, options?: StartOptions) => void
}

/** Takes or chooses a photo, shows it, and only then asks for the word. */
export function PhotoStep({ piece, isAdvised, onPhoto }: PhotoStepProps) {
  const last = useTryOn(room.photo)
  const [photo, setPhoto] = useState<Blob>()
  const [hasCamera, setHasCamera] = useState(!session.missing.includes('camera'))
  const [isShooting, setIsShooting] = useState(false)
  const chosen = useObjectUrl(photo)

  if (isShooting)
    return (
      <Shoot
        onPhoto={(taken) => {
          setIsShooting(false)
          setHasCamera(taken !== null)
          if (taken) setPhoto(taken)
        }}
      />
    )
  if (photo && chosen)
    return (
      <>
        <div className="frame">
          <img src={chosen} alt="You, as you will be sent" />
        </div>
        <div className="actions">
          <button className="main" data-testid="start" onClick={() => onPhoto(photo)} autoFocus>
            See it on me
          </button>
          {isAdvised && (
            <button data-testid="allTheSame" onClick={() => onPhoto(photo, { despiteAdvice: true })}>
              Use it all the same
            </button>
          )}
          <button onClick={() => setPhoto(undefined)}>Another photo</button>
        </div>
        <p className="quiet">Your photo is sent to the fitting room for this picture.</p>
      </>
    )
  return (
    <div className="ways">
      <img className="hangs" src={piece.image} alt="" />
      {last && (
        <button className="main" data-testid="last" onClick={() => onPhoto()}>
          {last.imageUrl && <img src={last.imageUrl} alt="" />}
          The same photo again
        </button>
      )}
      {hasCamera && (
        <button className={last ? '' : 'main'} data-testid="camera" onClick={() => setIsShooting(true)}>
          Take a photo
        </button>
      )}
      <label className="file">
        <input
          type="file"
          accept="image/*"
          capture="user"
          data-testid="photo"
          onChange={(event) => setPhoto(event.currentTarget.files?.[0])}
        />
        {hasCamera ? 'Choose a photo' : 'Take or choose a photo'}
      </label>
    </div>
  )
}

/** Where the count begins, in seconds: time to step back. */
const countFrom = 3

/** The camera with a count; null where there is none that may be used. */
function Shoot({ onPhoto }: { onPhoto: (photo: Blob | null) => void }) {
  const video = useRef<HTMLVideoElement>(null)
  const [camera, setCamera] = useState<Camera>()
  const [count, setCount] = useState<number>()
  const told = useRef(onPhoto)
  told.current = onPhoto

  useEffect(() => {
    let isGone = false
    const opening = video.current && openCamera(video.current)
    opening?.then(
      (opened) => isGone || setCamera(opened),
      () => isGone || told.current(null),
    )
    return () => {
      isGone = true
      void opening?.then((opened) => opened.close()).catch(() => undefined)
    }
  }, [])

  useEffect(() => {
    if (count === undefined) return
    // who stands still for the camera is there
    session.touch()
    const next = () => (count > 1 ? setCount(count - 1) : camera?.take().then(told.current, () => told.current(null)))
    const timer = setTimeout(next, 1_000)
    return () => clearTimeout(timer)
  }, [count, camera])

  return (
    <>
      <div className="frame mirror">
        <video ref={video} aria-label="What the camera sees" />
        {count !== undefined && (
          <p className="count" role="status">
            {count}
          </p>
        )}
      </div>
      <div className="actions">
        <button
          className="main"
          data-testid="shoot"
          disabled={!camera || count !== undefined}
          onClick={() => setCount(countFrom)}
        >
          Take it in {countFrom} seconds
        </button>
      </div>
    </>
  )
}
