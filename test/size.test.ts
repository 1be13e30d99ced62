import { build, type Metafile } from 'esbuild'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What a page loads at once of the door, as esbuild bundles it; every chunk of it, and all that is in them. */
let atOnce: { gzip: number; inputs: string[] }

beforeAll(async () => {
  const { outputFiles, metafile } = await build({
    stdin: { contents: "export { createFittingRoom } from './dist/src/index.js'", resolveDir: root },
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    outdir: 'out',
    write: false,
    metafile: true,
  })
  const names = loadedWith(metafile.outputs)
  const chunks = outputFiles.filter(({ path }) => names.some((name) => path.endsWith(name)))
  expect(chunks).toHaveLength(names.length)
  atOnce = {
    gzip: chunks.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length, 0),
    inputs: names.flatMap((name) => Object.keys(metafile.outputs[name]?.inputs ?? {})),
  }
})

/** The entry's chunk and those that it imports, but not those that it loads later. */
function loadedWith(outputs: Metafile['outputs']): string[] {
  const [entry = ''] = Object.keys(outputs).filter((name) => outputs[name]?.entryPoint === '<stdin>')
  const found = new Set([entry])
  for (const name of found)
    for (const { kind, path } of outputs[name]?.imports ?? []) if (kind === 'import-statement') found.add(path)
  return [...found]
}

describe('the door', () => {
  it('is as small as the README says', () => {
    const [, stated] = /^\| the door[^|]*\| ([\d.]+) kB \|/m.exec(readFileSync(`${root}README.md`, 'utf8')) ?? []
    expect((atOnce.gzip / 1000).toFixed(1)).toBe(stated)
  })

  it('brings neither the machine nor a library', () => {
    expect(
      atOnce.inputs.filter((name) => /node_modules|machines|contract\/(?!forms)|wire\/(?!base-url)/.test(name)),
    ).toEqual([])
  })
})

it('the sandbox runs in a page: it brings nothing of Node, and no picture library', async () => {
  const { metafile } = await build({
    stdin: { contents: "export * from './service/dist/sandbox.js'", resolveDir: root },
    bundle: true,
    platform: 'browser',
    format: 'esm',
    write: false,
    metafile: true,
  })
  const inputs = Object.keys(metafile.inputs)
  expect(inputs.filter((name) => /sharp|heic|node-server/.test(name))).toEqual([])
  expect(inputs.some((name) => name.endsWith('service/dist/app.js'))).toBe(true)
})
