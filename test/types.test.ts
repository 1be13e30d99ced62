import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const older = readdirSync(`${root}test/types`).filter((name) => /^\d/.test(name))
const compilers: Record<string, string> = {
  ...Object.fromEntries(older.map((version) => [version, `test/types/${version}/node_modules/typescript/bin/tsc`])),
  6: 'node_modules/typescript/bin/tsc6',
  7: 'node_modules/@typescript/native/bin/tsc',
}
const resolutions = {
  nodenext: ['--module', 'nodenext', '--moduleResolution', 'nodenext'],
  bundler: ['--module', 'esnext', '--moduleResolution', 'bundler'],
}
/** Every compiler, and the oldest and the newest in both ways to find a package. */
const cases = [
  ...Object.keys(compilers).map((version) => [version, 'nodenext'] as const),
  ['5.4', 'bundler'] as const,
  ['7', 'bundler'] as const,
]

/** How the compiler ends on an application that uses the built package, and what it prints. */
const compiled = (version: string, options: string[]) =>
  new Promise<{ failed: boolean; printed: string }>((resolve) =>
    execFile(process.execPath, [root + compilers[version], '-p', `${root}test/types`, ...options], (error, printed) =>
      resolve({ failed: error !== null, printed }),
    ),
  )

describe('an application that checks every declaration', { timeout: 120_000 }, () => {
  it.each(cases)('compiles with TypeScript %s and %s, and its mistakes do not', async (version, resolution) => {
    expect(await compiled(version, resolutions[resolution])).toEqual({ failed: false, printed: '' })
  })

  it('gets the declarations of no other package', async () => {
    const { printed: files } = await compiled('5.9', ['--listFilesOnly'])
    const packages = files.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/g)
    expect(new Set([...packages].map(([, name]) => name))).toEqual(new Set(['typescript']))
    expect(files).toContain('dist/src/index.d.ts')
    expect(files).not.toContain('src/index.ts')
  })
})
