import { tryOnMachine } from 'fitting-room/machines'

/** What is drawn of a state, of XState's own tree. */
interface StateNode {
  key: string
  id: string
  type: string
  path: string[]
  initial: { target: StateNode[] | undefined }
  states: Record<string, StateNode>
  transitions: ReadonlyMap<string, readonly Transition[]>
  always?: readonly Transition[]
}
interface Transition {
  target?: readonly StateNode[] | undefined
  guard?: string | { type: string; params?: unknown } | undefined
}

interface Arrow {
  from: StateNode
  to: StateNode
  by: string
}

const root = tryOnMachine.root as unknown as StateNode
const nameOf = ({ path }: StateNode) => path.join('.')
const topOf = ({ path }: StateNode) => path[0] ?? ''
const below = (node: StateNode): StateNode[] => [node, ...Object.values(node.states).flatMap(below)]

/** An event as it is said: what a state's own work comes to has no name of its own. */
const eventOf = (type: string) =>
  type
    .replace(/^xstate\.done\..*/, 'done')
    .replace(/^xstate\.error\..*/, 'error')
    .replace(/^xstate\.after\.([^.]+)\..*/, 'after $1')

function conditionOf(guard: Transition['guard']): string {
  if (guard === undefined) return ''
  const { type, params } = typeof guard === 'string' ? { type: guard } : { params: undefined, ...guard }
  return `[${[type, typeof params === 'string' ? params : ''].filter(Boolean).join(' ')}]`
}

function arrowsFrom(from: StateNode): Arrow[] {
  const given = [...from.transitions, ['', from.always ?? []] as const]
  return given.flatMap(([type, transitions]) =>
    transitions.flatMap(({ target = [], guard }) => {
      const by = [eventOf(type), conditionOf(guard)].filter(Boolean).join(' ')
      return target.map((to) => ({ from, to, by }))
    }),
  )
}

/** Arrows that lead from the same to the same are one, by either of what they are by. */
function merged(arrows: Arrow[], name: (node: StateNode) => string): { from: string; to: string; by: string }[] {
  const bys = new Map<string, { from: string; to: string; by: Set<string> }>()
  for (const arrow of arrows) {
    const [from, to] = [name(arrow.from), name(arrow.to)]
    const known = bys.get(`${from} ${to}`) ?? { from, to, by: new Set() }
    bys.set(`${from} ${to}`, known)
    known.by.add(arrow.by)
  }
  return [...bys.values()].map(({ by, ...ends }) => ({ ...ends, by: [...by].filter(Boolean).join(', ') }))
}

const drawn = (arrows: Arrow[], name: (node: StateNode) => string) =>
  merged(arrows, name).map(({ from, to, by }) => `${from} --> ${to}${by && `: ${by}`}`)

const mermaid = (lines: string[]) => ['```mermaid', 'stateDiagram-v2', ...lines.map((line) => `  ${line}`), '```']
const wordOf = (node: StateNode) => nameOf(node).replaceAll('.', '_')

/** Where a try-on goes from nearly anywhere, which drawn would hide all the rest. */
const everywhere = ['leaving', 'discarding', 'broken']
const fromAnywhere = 'lateAnswer'

const isDrawn = (node: StateNode) => !everywhere.includes(topOf(node))

function overview(): string[] {
  const arrows = below(root)
    .flatMap(arrowsFrom)
    .filter(
      ({ from, to, by }) => topOf(from) !== topOf(to) && !by.startsWith(fromAnywhere) && isDrawn(from) && isDrawn(to),
    )
  const kept = Object.values(root.states).filter(isDrawn)
  return mermaid([
    `[*] --> ${root.initial.target?.[0]?.key}`,
    ...kept.map(({ key }) => `state ${key}`),
    ...drawn(arrows, topOf),
  ])
}

/** The states within one, and where they lead. */
function inside(node: StateNode): string[] {
  const inner = below(node).slice(1)
  const draw = (of: StateNode): string[] =>
    Object.values(of.states).flatMap((child) =>
      child.type === 'atomic' || child.type === 'final'
        ? [`state "${child.key}" as ${wordOf(child)}`]
        : [`state "${child.key}" as ${wordOf(child)} {`, ...draw(child).map((line) => `  ${line}`), '}'],
    )
  const isInside = (to: StateNode) => topOf(to) === node.key && to !== node
  const arrows = inner.flatMap(arrowsFrom).filter(({ to }) => isInside(to))
  return [`## ${node.key}`, '', ...mermaid([...draw(node), ...drawn(arrows, wordOf)]), '']
}

/** What leads out of each state, whole. */
function ways(): string[] {
  const rows = below(root)
    .slice(1)
    .flatMap((node) => merged(arrowsFrom(node), nameOf))
    .map(({ from, to, by }) => `| \`${from}\` | ${by || 'at once'} | \`${to}\` |`)
  return ['| from | by | to |', '|---|---|---|', ...rows]
}

/** The page of the machine's states, in Markdown. */
export function statesPage(): string {
  const compounds = Object.values(root.states).filter(({ states }) => Object.keys(states).length > 0)
  return [
    '# The states of a try-on',
    '',
    'Made from the machine itself (`npm run docs`). What stands in brackets is a condition; `done` and `error` are what a state’s own work comes to. A try-on is restored from its record, and whatever it comes to is written there first: `routing` leads to what the record says. A view shows `following` as `processing` or `preview`, and what passes by between two states as `restoring`.',
    '',
    ...overview(),
    '',
    `Not drawn, as nearly every state leads there: ${everywhere.map((key) => `\`${key}\``).join(', ')}, and what an answer that came late does (\`${fromAnywhere}\`). They are in the table below.`,
    '',
    ...compounds.flatMap(inside),
    '## Every way',
    '',
    ...ways(),
    '',
  ].join('\n')
}
