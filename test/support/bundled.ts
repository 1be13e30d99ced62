import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** A program in one file, which starts sooner than from all of its sources: suites start some a hundred times. */
export async function bundled(entry: URL): Promise<{ path: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'program-'))
  const path = join(folder, 'program.mjs')
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile: path,
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['fitting-room-source'],
    sourcemap: 'inline',
  })
  return { path, remove: () => rm(folder, { recursive: true }) }
}
