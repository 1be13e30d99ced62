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

/** The ways from the roots by which one of these texts is held. */
function holdersOf({ snapshot, nodes, edges, strings }: Snapshot, texts: readonly string[]): string[] {
  const { node_fields: fields, node_types: types, edge_fields: edgeFields, edge_types: edgeTypes } = snapshot.meta
  const at = (name: string) => fields.indexOf(name)
  const [nameAt, typeAt, countAt, size] = [at('name'), at('type'), at('edge_count'), fields.length]
  const found = new Set(strings.flatMap((text, index) => (texts.some((each) => text.includes(each)) ? [index] : [])))
  if (found.size === 0) return []
  const typeOf = (node: number) => types[0][nodes[node + typeAt] ?? 0] ?? ''
  const labelOf = (node: number) => `${typeOf(node)} ${strings[nodes[node + nameAt] ?? 0]?.slice(0, 60)}`
  /** Every node that is reached without weak references, with what holds it on the shortest way, and as what. */
  const holders = new Map<number, { by: number; as: string }>([[0, { by: -1, as: '' }]])
  const firstEdges: number[] = []
  for (let node = 0, edge = 0; node < nodes.length; node += size) {
    firstEdges.push(edge)
    edge += (nodes[node + countAt] ?? 0) * edgeFields.length
  }
  for (const [node] of holders) {
    const first = firstEdges[node / size] ?? 0
    for (let count = 0; count < (nodes[node + countAt] ?? 0); count++) {
      const edge = first + count * edgeFields.length
      const [type = 0, name = 0, to = 0] = edges.slice(edge, edge + 3)
      const kind = edgeTypes[0][type] ?? ''
      if (kind === 'weak' || holders.has(to)) continue
      holders.set(to, { by: node, as: ['element', 'hidden'].includes(kind) ? `${name}` : (strings[name] ?? '') })
    }
  }
  function wayTo(node: number): string {
    const { by, as } = holders.get(node)!
    return by <= 0 ? labelOf(node) : `${wayTo(by)} > ${as}: ${labelOf(node)}`
  }
  return [...holders.keys()]
    .filter((node) => typeOf(node).includes('string') && found.has(nodes[node + nameAt] ?? -1))
    .map(wayTo)
}
