import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Import {
  from: string
  to: string
  typeOnly: boolean
}

const files = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name))

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  const statements = text.matchAll(/^(?:import|export)\s(type\s)?([^'"]*?from\s)?['"]([^'"]+)['"]/gm)
  return [...statements].map(([, typeWord, clause = '', to = '']) => {
    const names = /\{([^}]*)\}/.exec(clause)?.[1]?.split(',') ?? []
    const allTypes = names.length > 0 && names.every((name) => name.trim() === '' || name.trim().startsWith('type '))
    const target = to.startsWith('.') ? relative(root, resolve(root, dirname(file), to)) : to
    return { from: file, to: target, typeOnly: typeWord !== undefined || allTypes }
  })
}

const library = [...files('src'), ...files('machines'), ...files('adapters')]
const all = library.flatMap(importsOf)

/** The rooms in CONTRIBUTING's table with those that each says it stands on; what those may import, it may import too. */
const table = [...readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8').matchAll(/^\| `([^`]+)` \|.*\| ([^|]+) \|$/gm)]
  .map(([, room = '', below = '']) => [room, below] as const)
  .filter(([room]) => /^(src|machines|adapters)\b/.test(room))
const names = table.map(([room]) => room)
const roomNamed = (name: string) =>
  [name, `src/${name}`, `src/${name}.ts`].find((each) => names.includes(each)) ?? `no room: ${name}`
const rooms: Record<string, readonly string[]> = Object.fromEntries(
  table.map(([room, below]) => [room, /^(nothing|`.*`)$/.test(below) ? [] : below.split(', ').map(roomNamed)]),
)

const roomOf = (file: string): string | null =>
  Object.keys(rooms)
    .filter((room) => file === room || file.startsWith(`${room}/`))
    .sort((a, b) => b.length - a.length)[0] ?? null

const reach = (room: string): Set<string> => new Set((rooms[room] ?? []).flatMap((below) => [below, ...reach(below)]))

describe('the house', () => {
  it('is what CONTRIBUTING says: every room there stands on rooms that there are', () => {
    expect(names.length).toBeGreaterThan(25)
    expect(
      Object.values(rooms)
        .flat()
        .filter((room) => !names.includes(room)),
    ).toEqual([])
  })

  it('has no cycle of imports, of types neither', () => {
    const edges = new Map(library.map((file) => [file, all.filter(({ from }) => from === file).map(({ to }) => to)]))
    const cycles: string[] = []
    const visit = (file: string, path: string[]) => {
      if (path.includes(file)) return void cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
      for (const next of edges.get(file) ?? []) if (edges.has(next)) visit(next, [...path, file])
    }
    for (const file of library) visit(file, [])
    expect(cycles).toEqual([])
  })

  it('imports no index from inside', () => {
    const inside = all.filter(({ to }) => /(^|\/)index\.ts$/.test(to) && !to.startsWith('fitting-room'))
    expect(inside.filter(({ from }) => !from.endsWith('index.ts'))).toEqual([])
  })

  it('index files are only lists', () => {
    for (const file of library.filter((name) => name.endsWith('index.ts'))) {
      const code = readFileSync(join(root, file), 'utf8').replace(/export (type )?(\{[^}]*\}|\*) from '[^']+'\s*/g, '')
      expect([file, code.trim()]).toEqual([file, ''])
    }
  })

  it('the contract imports nothing but itself', () => {
    const foreign = all.filter(({ from, to }) => from.startsWith('src/contract') && !to.startsWith('src/contract'))
    expect(foreign).toEqual([])
  })

  it('every room imports only from rooms below it', () => {
    const upward = all.filter(({ from, to }) => {
      const [above, below] = [roomOf(from), roomOf(to)]
      return above !== null && below !== null && above !== below && !reach(above).has(below)
    })
    expect(upward.map(({ from, to }) => `${from} -> ${to}`)).toEqual([])
  })

  it('every file of the library is in a room', () => {
    expect(library.filter((file) => roomOf(file) === null)).toEqual([])
  })

  it('machines import only contract, rules, ports and how failures are reported', () => {
    const own = /^(machines\/|src\/(contract|rules)\/|src\/ports\.ts|src\/platform\/guarded\.ts)|^xstate$/
    expect(all.filter(({ from, to }) => from.startsWith('machines/') && !own.test(to))).toEqual([])
  })

  it('bindings see only what a stranger could import', () => {
    const bindings = all.filter(({ from }) => /^adapters\/(element\/)?[^/]+\.ts$/.test(from))
    const own = ({ from, to }: Import) => from.startsWith('adapters/element/') && to.startsWith('adapters/element/')
    const reaching = bindings.filter(
      (each) => !each.typeOnly && !own(each) && /^(src|machines|adapters)\//.test(each.to),
    )
    expect(reaching).toEqual([])
  })

  it('the service and the examples import the library by its public names', () => {
    const outside = ['service/src', 'examples/shop', 'examples/terminal']
      .flatMap(files)
      .filter((file) => !file.includes('/test/') && !file.includes('/dist/'))
    const reaching = outside.flatMap(importsOf).filter(({ to }) => /^(src|machines|adapters)\//.test(to))
    expect(reaching).toEqual([])
  })

  it('what draws in processes of its own runs where the library is not built', () => {
    const reached = new Set(['service/src/drawing/drawing-process.ts', 'service/src/drawing/process-guard.ts'])
    for (const file of reached)
      for (const { to, typeOnly } of importsOf(file)) if (!typeOnly && to.startsWith('service/')) reached.add(to)
    const needed = [...reached]
      .flatMap(importsOf)
      .filter(({ to, typeOnly }) => !typeOnly && to.startsWith('fitting-room'))
    expect(needed).toEqual([])
  })

  it('bindings are at most 45 lines', () => {
    for (const name of ['react', 'preact', 'vue', 'svelte', 'solid', 'angular']) {
      const lines = readFileSync(join(root, 'adapters', `${name}.ts`), 'utf8')
        .trimEnd()
        .split('\n').length
      expect(lines).toBeLessThanOrEqual(45)
    }
  })
})
