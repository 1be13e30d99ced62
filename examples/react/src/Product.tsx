import tee from '@fitting-room/service/garments/breton-tee.svg'
import type { StartOptions, TryOn, TryOnView } from 'fitting-room'
import { useTryOn } from 'fitting-room/react'
import { useEffect, useRef, useState, type ChangeEvent, type FormEvent } from 'react'
import { sizes, tryOnOf, words } from './room.ts'

export function Product() {
  const [size, setSize] = useState('2001')
  const tryOn = tryOnOf(size)
  return (
    <main className="product">
      <TryOnPanel tryOn={tryOn} />
      <section>
        <h1>Breton tee</h1>
        <p>Organic cotton, knitted in Portugal.</p>
        <div className="sizes" role="group" aria-label="Size">
          {Object.entries(sizes).map(([id, name]) => (
            <button key={id} data-testid={`size-${id}`} aria-pressed={id === size} onClick={() => setSize(id)}>
              {name}
            </button>
          ))}
        </div>
      </section>
    </main>
  )
}

/** The address of a chosen file, for as long as it is shown. */
function useObjectUrl(file: File | undefined): string | undefined {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (!file) return setUrl(undefined)
    const made = URL.createObjectURL(file)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [file])
  return url
}

/** What a screen reader says: a delay once, not at each new try. */
function Heard({ view }: { view: TryOnView }) {
  const [heard, setHeard] = useState({ view, text: '' })
  if (heard.view !== view) setHeard({ view, text: words.announcementOf(view, heard.view)?.text ?? heard.text })
  return (
    <p role="status" className="heard">
      {heard.text}
    </p>
  )
}

export function TryOnPanel({ tryOn }: { tryOn: TryOn }) {
  const view = useTryOn(tryOn)
  const [photo, setPhoto] = useState<File>()
  const [checked, setChecked] = useState<File>()
  const title = useRef<HTMLHeadingElement>(null)
  const chosen = useObjectUrl(photo)
  const made = view.result ?? view.preview
  const picture = made?.imageUrl ?? chosen
  // a problem with one photo is not shown for the next
  const isOfAnother = photo !== checked && view.problem?.kind.startsWith('photo')
  const isAdvisedAgainst = view.problem?.kind === 'photoAdvice' && photo !== undefined && !isOfAnother
  const problem = isOfAnother ? null : words.problem(view.problem, view)
  const notes = [words.trouble(view), words.notDurable(view), words.metadataKept(view)]
  // a paid job is not left here: this page has no list of earlier try-ons
  const mayLeave = view.can.startOver && view.state !== 'processing' && view.state !== 'preview'
  // controls that will be needed again soon stay in place, and keep the focus
  const isSoon = view.state === 'preparing'

  function choose({ target }: ChangeEvent<HTMLInputElement>) {
    const [file] = target.files ?? []
    setPhoto(file)
    // as long as the first one is being uploaded, this one takes its place
    if (isSoon && file) submit({}, file)
  }

  function submit(options?: StartOptions, file = photo) {
    setChecked(file)
    void tryOn[view.can.retry ? 'retry' : 'start'](file, options)
  }

  function submitEmail(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    title.current?.focus()
    void tryOn.submitEmail({ email: String(new FormData(event.currentTarget).get('email')) })
  }

  return (
    <section data-testid="try-on" data-state={view.state}>
      <div className="frame" aria-busy={view.group === 'busy'}>
        {picture ? (
          <img data-testid="picture" src={picture} alt={made ? 'You in the Breton tee' : 'Your photo'} />
        ) : (
          <img className="hangs" src={tee} alt="Breton tee" />
        )}
      </div>
      <Heard view={view} />
      <h2 ref={title} tabIndex={-1}>
        {words.title(view)}
      </h2>
      <p>{words.sentence(view)}</p>
      {problem && <p data-testid="problem">{problem}</p>}
      {notes.map((note) => note && <p key={note}>{note}</p>)}
      {view.progress && <progress value={view.progress.value} aria-label={words.progress(view) ?? ''} />}
      {(view.can.start || view.can.retry || isSoon) && (
        <label>
          Your photo <input type="file" accept="image/*" data-testid="photo" onChange={choose} />
        </label>
      )}
      {view.can.submitEmail && (
        <form onSubmit={submitEmail}>
          <label>
            E-mail <input name="email" type="email" autoComplete="email" required data-testid="email" />
          </label>{' '}
          <button data-main>{words.intent('submitEmail', view)}</button>
        </form>
      )}
      {/* a pressed button disappears, and the focus would go with it */}
      <div className="intents" onClick={() => title.current?.focus()}>
        {view.can.start && view.group === 'ready' && (
          <button data-main data-testid="start" disabled={!photo} onClick={() => submit()}>
            {words.intent('start', view)}
          </button>
        )}
        {isAdvisedAgainst && (
          <button data-testid="allTheSame" onClick={() => submit({ despiteAdvice: true })}>
            {words.despiteAdvice(view)}
          </button>
        )}
        {view.can.resume && (
          <button data-main data-testid="resume" onClick={() => tryOn.resume()}>
            {words.intent('resume', view)}
          </button>
        )}
        {view.can.retry && (
          <button data-testid="retry" onClick={() => submit()}>
            {words.intent('retry', view)}
          </button>
        )}
        {(mayLeave || isSoon) && (
          <button data-testid="startOver" disabled={!mayLeave} onClick={() => tryOn.startOver()}>
            {words.intent('startOver', view)}
          </button>
        )}
      </div>
    </section>
  )
}
