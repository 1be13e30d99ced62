import type { CDPSession } from 'playwright'

/** What a heap snapshot of V8 is, as far as it is read. */
interface Snapshot {
  snapshot: { meta: { node_fields: string[]; node_types: [string[]]; edge_fields: string[]; edge_types: [string[]] } }
  nodes: number[]
  edges: number[]
  strings: string[]
}

/** Where in the memory of a page, once its garbage is collected, one of these texts stands, and what holds it there. */
export async function tracesInMemory(session: CDPSession, texts: readonly string[]): Promise<string[]> {
  const parts: string[] = []
  const hear = ({ chunk }: { chunk: string }) => void parts.push(chunk)
  session.on('HeapProfiler.addHeapSnapshotChunk', hear)
  await session.send('HeapProfiler.collectGarbage')
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false })
  session.off('HeapProfiler.addHeapSnapshotChunk', hear)
  return holdersOf(JSON.parse(parts.join('')) as Snapshot, texts)
}

function holdersOf({ snapshot, nodes, edges, strings }: Snapshot, texts: readonly string[]): string[] {
  const { node_fields: fields, node_types: types, edge_fields: edgeFields, edge_types: edgeTypes } = snapshot.meta
  const at = (name: string) => fields.indexOf(name)
  const [nameAt, typeAt, countAt, size] = [at('name'), at('type'), at('edge_count'), fields.length]
  const found = new Set(strings.flatMap((text, index) => (texts.some((each) => text.includes(each)) ? [index] : [])))
  if (found.size === 0) return []
  const labelOf = (node: number) =>
    `${types[0][nodes[node + typeAt] ?? 0]} ${strings[nodes[node + nameAt] ?? 0]?.slice(0, 60)}`
  const held: string[] = []
  let edge = 0
  for (let node = 0; node < nodes.length; node += size) {
    for (let count = nodes[node + countAt] ?? 0; count > 0; count--, edge += edgeFields.length) {
      const [type = 0, name = 0, to = 0] = edges.slice(edge, edge + 3)
      const kind = edgeTypes[0][type]
      const isText = types[0][nodes[to + typeAt] ?? 0]?.includes('string') && found.has(nodes[to + nameAt] ?? -1)
      if (!isText || kind === 'weak') continue
      held.push(`${kind === 'element' || kind === 'hidden' ? name : strings[name]} of ${labelOf(node)}: ${labelOf(to)}`)
    }
  }
  return held
}
