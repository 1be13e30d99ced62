import {
  createFittingRoom,
  isTryOnError,
  type FittingRoom,
  type FlowStorage,
  type TryOn,
  type TryOnView,
} from 'fitting-room'
import { createDevtools } from 'fitting-room/devtools'
import type { Session, SessionView } from 'fitting-room/kiosk'
import { createProxy } from 'fitting-room/proxy'
import { postgresBudget, postgresStorage } from 'fitting-room/storage/postgres'
import { entryOf, mockRoom, problems, viewOf, views } from 'fitting-room/testing'

/** What the guides show, as an application writes it. */
export const shown = {
  lineFor,
  pictureOf,
  keptInMemory,
  forgetMe,
  screenOf,
  limitOf,
  withCode,
  behind,
  onServer,
  screens,
  withHistory,
  seeingInside,
}

declare const settings: { baseUrl: string; apiKey: string }
declare const pool: Parameters<typeof postgresStorage>[0]

function lineFor(view: TryOnView): string {
  switch (view.group) {
    case 'waiting':
      return ''
    case 'ready':
      return 'Choose a photo of you.'
    case 'busy':
      return view.trouble ? 'This takes longer than usual.' : 'One moment.'
    case 'asks':
      return 'Where may we reach you?'
    case 'done':
      return 'That is you.'
    case 'stopped':
      return 'We had to stop here.'
  }
}

async function pictureOf(tryOn: TryOn, photo: Blob): Promise<string | null> {
  const { can } = await tryOn.ready
  await (can.retry ? tryOn.retry(photo) : tryOn.start(photo))
  try {
    return (await tryOn.result({ rejectOnInput: true })).imageUrl
  } catch (error) {
    if (isTryOnError(error) && error.kind === 'limitReached') return null
    throw error
  }
}

function keptInMemory(): FlowStorage {
  const values = new Map<string, string>()
  const storage: FlowStorage = {
    durable: false,
    getItem: (key) => values.get(key),
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
    update(key, change) {
      const next = change(values.get(key) ?? null)
      if (next === null) values.delete(key)
      else values.set(key, next)
    },
  }
  return storage
}

async function forgetMe(room: FittingRoom): Promise<boolean> {
  await room.reset()
  return (await room.stored()).length === 0
}

function screenOf(view: SessionView): 'attract' | 'visit' | 'warning' | 'locked' {
  if (view.state === 'locked') return 'locked'
  if (view.state === 'warning') return 'warning'
  return view.state === 'active' ? 'visit' : 'attract'
}

function limitOf(view: TryOnView): string | null {
  if (view.problem?.kind !== 'deviceLimit') return null
  return view.problem.nextAt === null ? 'for the next shopper' : new Date(view.problem.nextAt).toLocaleTimeString()
}

function withCode(code: HTMLElement, photoInput: HTMLInputElement, emailForm: HTMLFormElement, session: Session) {
  function clearAtEnd(): void {
    photoInput.value = ''
    emailForm.reset()
    code.replaceChildren()
    session.signal.addEventListener('abort', clearAtEnd)
  }
  clearAtEnd()
}

function behind() {
  const budget = postgresBudget(pool)
  const proxied = createProxy({ baseUrl: settings.baseUrl, apiKey: () => settings.apiKey, path: '/api', budget })
  return proxied
}

function onServer() {
  const room = createFittingRoom({
    ...settings,
    storage: postgresStorage(pool),
    budget: postgresBudget(pool),
    uniqueUserId: 'shopper-17',
  })
  return room
}

function screens() {
  const room = mockRoom({ '1001/2001': 'idle' })
  const tryOn = room.tryOn({ productId: '1001', variantId: '2001', funnelIds: [11] })
  room.show(viewOf('failed', { problem: problems.jobFailed }))
  const offered = Object.entries(tryOn.get().can).flatMap(([intent, may]) => (may ? [intent] : []))
  return offered
}

function withHistory(imageUrl: string) {
  const room = mockRoom({}, { history: [entryOf('final'), entryOf('processing', { variantId: '2002' })] })
  room.show(viewOf('final', { result: { ...views.final.result, imageUrl } }))
  return room
}

function seeingInside() {
  const devtools = createDevtools()
  const room = createFittingRoom({ ...settings, ...devtools.options })
  devtools.open(room)
}
