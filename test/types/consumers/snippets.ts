import { openRunner } from 'fitting-room/runner'
import type { PostgresQueries, RunnerOptions } from 'fitting-room/runner'
import {
  createFittingRoom,
  type FittingRoom,
  type FittingRoomOptions,
  type FlowStorage,
  type TryOn,
  type TryOnView,
} from 'fitting-room'
import { createSession, deviceLimits, newShopperId, type Session } from 'fitting-room/kiosk'
import { preparePhoto } from 'fitting-room/photos'
import type { ImageType } from 'fitting-room/contract'
import { createProxy } from 'fitting-room/proxy'
import { mockRoom, problems, viewOf } from 'fitting-room/testing'
import { createWords } from 'fitting-room/words'
import { en } from 'fitting-room/words/en'

/** What the README shows, as an application writes it. */
export function shown(view: TryOnView) {
  const words = createWords({ ...en, titles: { ...en.titles, final: 'Ta-da!' } })
  const heading = words.title(view)
  const label = words.intent('retry', view)
  const wrong = words.problem(view.problem, view)
  return { heading, label, wrong }
}

declare const settings: { baseUrl: string; apiKey: string }

export function screen(fileInput: HTMLInputElement, caption: HTMLElement, picture: HTMLImageElement) {
  const room = createFittingRoom({ baseUrl: settings.baseUrl, apiKey: () => settings.apiKey })
  const tryOn = room.tryOn({ productId: '1001', variantId: '2001', funnelIds: [11] })
  fileInput.onchange = () => fileInput.files?.[0] && void tryOn.start(fileInput.files[0])
  tryOn.subscribe(({ state, result }) => {
    caption.textContent = state
    picture.src = result?.imageUrl ?? ''
  })
}

export async function unseen(tryOn: TryOn, signal: AbortSignal) {
  const result = await tryOn.result({ rejectOnInput: true, signal })
  return result
}

const handle = createProxy({ baseUrl: settings.baseUrl, apiKey: () => settings.apiKey, path: '/api' })

// Next, app/api/[...path]/route.ts
export { handle as GET, handle as POST, handle as DELETE, handle as OPTIONS }
// a worker
export default { fetch: handle }

export function tested() {
  const room = mockRoom({ '1001/2001': 'needsEmail' })
  room.show('final')
  room.show(viewOf('rejected', { problem: problems.refused }))
  const said = room.heard.map(({ intent }) => intent)
  return said
}

export function checked(settings: FittingRoomOptions) {
  const room = createFittingRoom({
    ...settings,
    checkPhoto: ({ width, height }) =>
      width !== null && height !== null && width > height ? 'Please stand upright' : null,
  })
  return room
}

interface Native {
  AsyncStorage: FlowStorage
  getRandomBytes: (count: number) => Uint8Array
  AppState: { addEventListener: (type: 'change', hear: (state: string) => void) => { remove(): void } }
}

export function native(settings: FittingRoomOptions, { AsyncStorage, getRandomBytes, AppState }: Native) {
  const room = createFittingRoom({
    ...settings,
    storage: AsyncStorage,
    randomBytes: (count) => getRandomBytes(count),
    pageLife({ onWake }) {
      const subscription = AppState.addEventListener('change', (state) => state === 'active' && onWake())
      return () => subscription.remove()
    },
  })
  return room
}

export function kiosk(status: HTMLElement, touchToBegin: HTMLElement, done: HTMLElement) {
  const limits = deviceLimits({ perShopper: 5, perHour: 60 })
  const room = createFittingRoom({ ...settings, uniqueUserId: newShopperId, limit: limits })
  const session = createSession(room, { idleMs: 60_000, warnMs: 15_000, holdMs: 300_000, limits })
  session.subscribe((view) => {
    status.textContent = view.state === 'warning' ? `Still there? ${view.secondsLeft}` : view.state
  })
  touchToBegin.onclick = () => session.begin()
  done.onclick = () => void session.end()
}

export async function takenHome(room: FittingRoom, show: (view: TryOnView) => void) {
  const ticket = /^#ticket=(.+)/.exec(location.hash)?.[1]
  if (ticket) {
    // whoever gets this page's address next gets no ticket
    history.replaceState(null, '', location.pathname)
    const claimed = await room.claim(ticket)
    claimed.subscribe(show)
  }
}

export function measured(room: FittingRoom, mayMeasure: () => boolean, dataLayer: object[]) {
  room.on(({ type, key, productId, sinceMs }) => {
    if (!mayMeasure()) return
    dataLayer.push({ event: 'try_on', type, key, productId, sinceMs })
  })

  room.on((event) => {
    if (mayMeasure()) navigator.sendBeacon('/try-ons', JSON.stringify(event))
  })
}

export async function codeFor(tryOn: TryOn): Promise<string> {
  return `https://shop.example/#ticket=${await tryOn.ticket()}`
}

export function fromPhone(room: FittingRoom) {
  async function sendPhoto(file: File, word: string): Promise<void> {
    const terms = { maxSide: 2_048, advice: false }
    const photo = await preparePhoto({ bytes: await file.arrayBuffer(), type: file.type }, terms)
    // never, as `advice` is false
    if ('advice' in photo) return
    const target = await room.client.createUpload({ contentType: photo.type as ImageType })
    if (target.kind !== 'accepted') throw new Error(target.kind)
    const { uploadUrl, imageUrl } = target.data
    const sent = await room.client.putPhoto(uploadUrl, photo)
    if (sent.kind !== 'accepted') throw new Error(sent.kind)
    await fetch(`/photos-from-phones/${word}`, { method: 'PUT', body: JSON.stringify({ imageUrl }) })
  }
  return sendPhoto
}

export function seenBefore(
  room: FittingRoom,
  words: ReturnType<typeof createWords>,
  earlier: HTMLElement,
  openLast: HTMLElement,
  show: (view: TryOnView) => void,
) {
  const showEarlier = () => {
    const entries = room.history.get()
    const names = entries.map((entry) => `${entry.productId}/${entry.variantId}: ${words.title(entry)}`)
    earlier.textContent = names.join(', ')
  }
  room.history.subscribe(showEarlier)
  showEarlier()
  openLast.onclick = () => {
    const opened = room.history.get()[0]?.open()
    if (opened) show(opened.get())
    opened?.subscribe(show)
  }
}

export function displayed(tryOn: TryOn, session: Session) {
  async function photoFromPhone(word: string): Promise<void> {
    // whoever comes next is not to get it
    const { signal } = session
    const answer = await fetch(`/photos-from-phones/${word}`, { signal })
    const { imageUrl } = (await answer.json()) as { imageUrl: string }
    signal.throwIfAborted()
    await (tryOn.get().can.retry ? tryOn.retry({ imageUrl }) : tryOn.start({ imageUrl }))
  }
  return photoFromPhone
}

async function save(tryOn: TryOn): Promise<void> {
  const address = URL.createObjectURL(await tryOn.picture())
  Object.assign(document.createElement('a'), { href: address, download: 'try-on' }).click()
  URL.revokeObjectURL(address)
}

export function lasting(tryOn: TryOn, image: HTMLImageElement, button: HTMLButtonElement) {
  image.onerror = () => void tryOn.pictureFailed(image.src)
  button.onclick = () => void save(tryOn)
}

interface PoolOf extends PostgresQueries {
  on(event: 'error', listener: (error: Error) => void): this
}

export async function lookbook(
  Pool: new (options: { connectionString: string }) => PoolOf,
  connectionString: string,
  settings: Omit<RunnerOptions, 'database'>,
  photo: Blob,
) {
  const database = new Pool({ connectionString }).on('error', console.error)
  const runner = await openRunner({ database, ...settings })
  runner.on(({ id, state, result }) => console.log(id, state, result?.imageUrl))
  await runner.add({ id: 'spring-17', product: { productId: '1001', variantId: '2001', funnelIds: [11] }, photo })
  await runner.run({ atOnce: 20 })
  await runner.settled()
  await runner.close()
}
