import type { HistoryEntry, PhotoInput, StartOptions, TryOn, TryOnView } from 'fitting-room'
import { useTryOn } from 'fitting-room/react'
import { useEffect, useRef, useState, type FormEvent } from 'react'
import { usePicture } from './picture-address.ts'
import { PhotoStep } from './PhotoStep.tsx'
import { tryOnOf, type Piece } from './pieces.ts'
import { shop, words } from './room.ts'
import { TakeHome } from './TakeHome.tsx'

interface BoothProps {
  piece: Piece
  /** What was tried on of it before. */
  entry?: HistoryEntry
  onBack: () => void
}

/** One piece in one size: its photo, its wait, its picture. */
export function Booth({ piece, entry, onBack }: BoothProps) {
  const sizes = Object.values(piece.sizes)
  const [size, setSize] = useState(() => sizes.find((id) => entry?.variantId === id) ?? sizes[0] ?? '')
  // what was left for another one is only looked at
  const [left, setLeft] = useState(() => (entry?.archived ? entry.open() : null))
  const [hasAnother, setHasAnother] = useState(false)
  const tryOn = left ?? tryOnOf(piece, size)
  const view = useTryOn(tryOn)
  const takesPhoto = (view.can.start && view.group === 'ready') || (hasAnother && view.can.retry)
  const isAdvised = view.problem?.kind === 'photoAdvice'
  const say = (photo?: PhotoInput, options?: StartOptions) => {
    const said = view.can.retry ? tryOn.retry(photo, options) : tryOn.start(photo, options)
    // where it is advised against it may be said again; the view says what is wrong
    said.then(
      () => setHasAnother(false),
      () => undefined,
    )
  }
  return (
    <section className="booth" data-testid="try-on" data-state={view.state}>
      <div className="row">
        <button onClick={onBack} data-testid="back">
          ‹ All pieces
        </button>
        <Sizes
          piece={piece}
          chosen={size}
          onChoose={(id) => {
            setLeft(null)
            setSize(id)
          }}
        />
      </div>
      <Announced view={view} heading={takesPhoto ? piece.title : null} />
      {takesPhoto ? (
        <PhotoStep key={view.attempt?.id ?? size} piece={piece} isAdvised={isAdvised} onPhoto={say} />
      ) : (
        <Wait
          tryOn={tryOn}
          view={view}
          piece={piece}
          onAnother={left ? () => setLeft(null) : view.can.retry ? () => setHasAnother(true) : null}
        />
      )}
    </section>
  )
}

interface SizesProps {
  piece: Piece
  chosen: string
  onChoose: (size: string) => void
}

function Sizes({ piece, chosen, onChoose }: SizesProps) {
  return (
    <div className="sizes" role="group" aria-label="Size">
      {Object.entries(piece.sizes).map(([name, id]) => (
        <button key={id} data-testid={`size-${id}`} aria-pressed={id === chosen} onClick={() => onChoose(id)}>
          {name}
        </button>
      ))}
    </div>
  )
}

/** The words of the state, and what is wrong; a screen reader hears both once they change. */
function Announced({ view, heading }: { view: TryOnView; heading: string | null }) {
  const problem = words.problem(view.problem, view)
  const trouble = words.trouble(view)
  const title = useRef<HTMLHeadingElement>(null)
  useEffect(() => title.current?.focus(), [])
  return (
    <div>
      <h1 ref={title} tabIndex={-1}>
        {heading ?? words.title(view)}
      </h1>
      <div role="status">
        <p>{words.sentence(view)}</p>
        {trouble && <p className="note">{trouble}</p>}
        {problem && (
          <p className="note" data-testid="problem">
            {problem}
          </p>
        )}
      </div>
    </div>
  )
}

interface WaitProps {
  tryOn: TryOn
  view: TryOnView
  piece: Piece
  /** Tries it on once more; null where that cannot be. */
  onAnother: (() => void) | null
}

function Wait({ tryOn, view, piece, onAnother }: WaitProps) {
  const picture = view.result ?? view.preview
  const shown = usePicture(picture?.imageUrl, piece.image, () => {
    void tryOn.pictureFailed(picture?.imageUrl)
    return tryOn.picture()
  })
  return (
    <>
      <div className={picture ? 'frame' : 'frame waits'} aria-busy={view.group === 'busy'}>
        <img data-testid="picture" alt={picture ? `You in the ${piece.title}` : piece.title} {...shown} />
        {view.progress && (
          <div className="come">
            <progress value={view.progress.value} aria-label={words.progress(view) ?? ''} />
            <p aria-hidden="true">{words.progress(view)}</p>
          </div>
        )}
      </div>
      {view.can.submitEmail && <Email tryOn={tryOn} label={words.intent('submitEmail', view)} />}
      <div className="actions">
        {view.can.resume && (
          <button className="main" data-testid="resume" onClick={() => tryOn.resume()}>
            {words.intent('resume', view)}
          </button>
        )}
        {onAnother && (
          <button data-testid="retry" onClick={onAnother}>
            {view.state === 'final' ? 'Another photo' : words.intent('retry', view)}
          </button>
        )}
        {shop && view.attempt?.jobId && <TakeHome tryOn={tryOn} shop={shop} />}
        {view.can.startOver && view.group === 'busy' && (
          <button data-testid="startOver" onClick={() => tryOn.startOver()}>
            {words.intent('startOver', view)}
          </button>
        )}
      </div>
    </>
  )
}

function Email({ tryOn, label }: { tryOn: TryOn; label: string }) {
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    void tryOn.submitEmail({ email: String(new FormData(event.currentTarget).get('email')) })
  }
  // no browser keeps what a stranger types here; one that looks whether it is an address would
  return (
    <form onSubmit={submit} autoComplete="off">
      <label>
        E-mail{' '}
        <input name="email" inputMode="email" autoCapitalize="off" autoComplete="off" required data-testid="email" />
      </label>
      <button className="main">{label}</button>
    </form>
  )
}
