import tee from '@fitting-room/service/garments/breton-tee.svg'
import type { StartOptions, TryOnView } from 'fitting-room'
import { useTryOn } from 'fitting-room/solid'
import { createEffect, createMemo, createSignal, For, onCleanup, Show } from 'solid-js'
import { sizes, tryOnOf, words } from './room.ts'

export function ProductPage() {
  const [size, setSize] = createSignal('2001')
  return (
    <main class="product">
      <TryOnPanel variantId={size()} />
      <section>
        <h1>Breton tee</h1>
        <p>Organic cotton, knitted in Portugal.</p>
        <div class="sizes" role="group" aria-label="Size">
          <For each={Object.entries(sizes)}>
            {([id, name]) => (
              <button data-testid={`size-${id}`} aria-pressed={id === size()} onClick={() => setSize(id)}>
                {name}
              </button>
            )}
          </For>
        </div>
      </section>
    </main>
  )
}

function TryOnPanel(props: { variantId: string }) {
  const tryOn = () => tryOnOf(props.variantId)
  const view = useTryOn(tryOn)
  const [photo, setPhoto] = createSignal<File>()
  const [checked, setChecked] = createSignal<File>()
  const [chosen, setChosen] = createSignal<string>()
  const [title, setTitle] = createSignal<HTMLElement>()
  createEffect(() => {
    const file = photo()
    const url = file && URL.createObjectURL(file)
    setChosen(url)
    onCleanup(() => url && URL.revokeObjectURL(url))
  })
  const made = () => view().result ?? view().preview
  const picture = () => made()?.imageUrl ?? chosen()
  // a problem with one photo is not shown for the next
  const isOfAnother = () => photo() !== checked() && view().problem?.kind.startsWith('photo')
  const isAdvisedAgainst = () => view().problem?.kind === 'photoAdvice' && photo() !== undefined && !isOfAnother()
  const problem = () => (isOfAnother() ? null : words.problem(view().problem, view()))

  const notes = () => [words.trouble(view()), words.notDurable(view()), words.metadataKept(view())].filter(Boolean)
  // what a screen reader says: a delay once, not at each new try
  const heard = createMemo<{ view: TryOnView; text: string }>(
    (before) => ({ view: view(), text: words.announcementOf(view(), before.view)?.text ?? before.text }),
    { view: view(), text: '' },
  )
  // a paid job is not left here: this page has no list of earlier try-ons
  const mayLeave = () => view().can.startOver && view().state !== 'processing' && view().state !== 'preview'
  // controls that will be needed again soon stay in place, and keep the focus
  const isSoon = () => view().state === 'preparing'

  function choose(event: Event & { currentTarget: HTMLInputElement }) {
    setPhoto(event.currentTarget.files?.[0])
    // as long as the first one is being uploaded, this one takes its place
    if (isSoon() && photo()) submit()
  }

  function submit(options?: StartOptions) {
    setChecked(photo())
    void tryOn()[view().can.retry ? 'retry' : 'start'](photo(), options)
  }

  function submitEmail(event: SubmitEvent & { currentTarget: HTMLFormElement }) {
    event.preventDefault()
    title()?.focus()
    void tryOn().submitEmail({ email: String(new FormData(event.currentTarget).get('email')) })
  }

  return (
    <section data-testid="try-on" data-state={view().state}>
      <div class="frame" aria-busy={view().group === 'busy'}>
        <Show when={picture()} fallback={<img class="hangs" src={tee} alt="Breton tee" />}>
          {(url) => <img data-testid="picture" src={url()} alt={made() ? 'You in the Breton tee' : 'Your photo'} />}
        </Show>
      </div>
      <p role="status" class="heard">
        {heard().text}
      </p>
      <h2 ref={setTitle} tabIndex={-1}>
        {words.title(view())}
      </h2>
      <p>{words.sentence(view())}</p>
      <Show when={problem()}>{(text) => <p data-testid="problem">{text()}</p>}</Show>
      <For each={notes()}>{(note) => <p>{note}</p>}</For>
      <Show when={view().progress}>
        {(progress) => <progress value={progress().value} aria-label={words.progress(view()) ?? ''} />}
      </Show>
      <Show when={view().can.start || view().can.retry || isSoon()}>
        <label>
          Your photo <input type="file" accept="image/*" data-testid="photo" onChange={choose} />
        </label>
      </Show>
      <Show when={view().can.submitEmail}>
        <form onSubmit={submitEmail}>
          <label>
            E-mail <input name="email" type="email" autocomplete="email" required data-testid="email" />
          </label>{' '}
          <button data-main>{words.intent('submitEmail', view())}</button>
        </form>
      </Show>
      {/* a pressed button disappears, and the focus would go with it */}
      <div class="intents" onClick={() => title()?.focus()}>
        <Show when={view().can.start && view().group === 'ready'}>
          <button data-main data-testid="start" disabled={!photo()} onClick={() => submit()}>
            {words.intent('start', view())}
          </button>
        </Show>
        <Show when={isAdvisedAgainst()}>
          <button data-testid="allTheSame" onClick={() => submit({ despiteAdvice: true })}>
            {words.despiteAdvice(view())}
          </button>
        </Show>
        <Show when={view().can.resume}>
          <button data-main data-testid="resume" onClick={() => tryOn().resume()}>
            {words.intent('resume', view())}
          </button>
        </Show>
        <Show when={view().can.retry}>
          <button data-testid="retry" onClick={() => submit()}>
            {words.intent('retry', view())}
          </button>
        </Show>
        <Show when={mayLeave() || isSoon()}>
          <button data-testid="startOver" disabled={!mayLeave()} onClick={() => tryOn().startOver()}>
            {words.intent('startOver', view())}
          </button>
        </Show>
      </div>
    </section>
  )
}
