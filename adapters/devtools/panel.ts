import type { HistoryEntry } from '../../src/room.types.ts'
import { tryOnStates } from '../../src/rules/words.ts'
import type { InspectedRequest } from '../../src/wire/operations.ts'
import type { Followed, Log } from './log.ts'
import { styles } from './styles.ts'
import { withoutVisitor, type StoredNow, type Turn } from './surroundings.ts'

export interface Panel {
  element: HTMLElement
  show(log: Log, history: readonly HistoryEntry[]): void
  showAround(stored: StoredNow, pages: readonly Turn[] | null): void
}

type Child = Node | string

function h(tag: string, attributes: Record<string, string>, ...children: Child[]): HTMLElement {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

const timeOf = (at: number) => new Date(at).toISOString().slice(11, 19)
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 16).replace('T', ' ')
const none = (text: string) => h('p', { class: 'none' }, text)

function table(heads: readonly string[], rows: readonly (readonly Child[])[]): HTMLElement {
  const cells = (tag: 'td' | 'th', of: readonly Child[]) => of.map((each) => h(tag, {}, each))
  const body = rows.map((row) => h('tr', {}, ...cells('td', row)))
  return h('table', {}, h('thead', {}, h('tr', {}, ...cells('th', heads))), h('tbody', {}, ...body))
}

/** An element of its own in a shadow root, so that neither the page's styles nor the panel's meet the other's. */
export function createPanel(): Panel {
  const element = h('fitting-room-devtools', {})
  const root = element.attachShadow({ mode: 'open' })
  const section = (name: string) => {
    const place = h('div', {})
    root.querySelector('details')!.append(h('section', { 'aria-label': name }, h('h2', {}, name), place))
    return place
  }
  root.append(h('style', {}, styles), h('details', { open: '' }, h('summary', {}, 'fitting-room')))
  const places = {
    tryOns: section('Try-ons'),
    requests: section('Requests'),
    history: section('History'),
    stored: section('Storage'),
    pages: section('Pages'),
  }
  return {
    element,
    show(log, history) {
      replace(places.tryOns, log.followed().map(followed), 'None runs on this page.')
      const requests = log.requests()
      replace(places.requests, requests.length > 0 ? [priceOf(requests), requestTable(requests)] : [], 'None yet.')
      const rows = history.map(({ productId, variantId, state, jobId, archived }) => {
        const where = archived ? 'in the archive' : 'on show'
        return [`${productId} / ${variantId}`, state, jobId ? `${jobId.slice(0, 6)}…` : 'no job yet', where]
      })
      replace(places.history, rows.length > 0 ? [table(['product', 'state', 'job', 'where'], rows)] : [], 'Empty.')
    },
    showAround(stored, pages) {
      const kept = (stored ?? []).map(({ kind, key, until }) => [
        kind,
        withoutVisitor(key),
        until === 0 ? 'due' : dayOf(until),
      ])
      const empty = stored ? 'Nothing is kept.' : 'Storage cannot be read.'
      replace(places.stored, kept.length > 0 ? [table(['kind', 'key', 'until (UTC)'], kept)] : [], empty)
      const turns = (pages ?? []).map(({ name, owner, waiting }) => [name, owner, `${waiting}`])
      const alone = pages ? 'No try-on is at work.' : 'There are no Web Locks here: pages take turns by leases.'
      replace(places.pages, turns.length > 0 ? [table(['try-on', 'run by', 'waiting'], turns)] : [], alone)
    },
  }
}

/** Only what has changed is drawn, so that what somebody selects or reads stays. */
function replace(place: HTMLElement, children: readonly HTMLElement[], empty: string): void {
  const next = h('div', {}, ...(children.length > 0 ? children : [none(empty)]))
  if (!next.isEqualNode(place)) place.replaceChildren(...next.childNodes)
}

/** Where a try-on stands among the states of its view, and the way by which it has come there. */
function followed({ product, steps, state: shown, nextAt }: Followed): HTMLElement {
  const now = steps.at(-1)?.states ?? ''
  const states = tryOnStates.map((state) => h('li', state === shown ? { 'aria-current': 'step' } : {}, state))
  const way = steps.map(({ type, states: at }) => h('li', {}, h('b', {}, type), ` → ${at}`))
  const next = nextAt === null ? 'no timer runs' : `goes on by itself at ${timeOf(nextAt)} UTC`
  return h(
    'article',
    {},
    h('h3', {}, product),
    h('p', { class: 'now' }, `${now}, ${next}`),
    h('ol', { class: 'states' }, ...states),
    h('ol', { class: 'way', tabindex: '0', 'aria-label': `The way of ${product}` }, ...way.reverse()),
  )
}

const priceOf = ([last]: readonly InspectedRequest[]) =>
  h('p', {}, `A request more costs the others behind this address ${last!.price.toFixed(2)} (0: nothing is refused).`)

const requestTable = (requests: readonly InspectedRequest[]) =>
  table(
    ['at (UTC)', 'operation', 'status', 'what happened', 'outcome', 'ms'],
    requests.map(({ at, operation, status, situation, outcome, tookMs }) => [
      timeOf(at),
      operation,
      `${status ?? 'none'}`,
      situation,
      h('span', { class: outcome === 'accepted' ? 'good' : 'bad' }, outcome),
      tookMs.toFixed(0),
    ]),
  )
