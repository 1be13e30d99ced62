import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  exports: Record<string, string | Record<string, string>>
  dependencies: Record<string, string>
}
const entries = Object.entries(manifest.exports).filter(([, target]) => typeof target !== 'string') as [
  string,
  Record<string, string>,
][]

/** Every public name that runs; a change here is a change for users. */
const names: Record<string, string[]> = {
  '.': ['TryOnError', 'createFittingRoom', 'explain', 'isTryOnError'],
  './client': ['clientTiming', 'createClient'],
  './machines': ['Private', 'requestMachine', 'restoringView', 'tryOnMachine', 'tryOnView'],
  './storage/indexed-db': ['indexedDbStorage'],
  './storage/local-storage': ['webStorage'],
  './storage/memory': ['memoryPhotos', 'memoryStorage'],
  './storage/chain': ['storageChain'],
  './storage/postgres': ['postgresBudget', 'postgresStorage'],
  './kiosk': ['createSession', 'deviceLimits', 'newShopperId', 'watchPage'],
  './devtools': ['createDevtools'],
  './runner': ['openRunner'],
  './core': ['createRoom'],
  './photos': ['openCamera', 'preparePhoto'],
  './react': ['useTryOn'],
  './preact': ['useTryOn'],
  './angular': ['useTryOn'],
  './element': ['TryOnElement'],
  './vue': ['useTryOn'],
  './svelte': ['useTryOn'],
  './solid': ['useTryOn'],
}

describe('the built package', () => {
  it.each(entries)('%s exists as source, types and code', (_, target) => {
    for (const file of Object.values(target)) expect([file, existsSync(root + file)]).toEqual([file, true])
  })

  it.each(Object.entries(names))('%s exports exactly its names', async (entry, expected) => {
    const { default: file } = manifest.exports[entry] as Record<string, string>
    const built = (await import(/* @vite-ignore */ root + file)) as object
    expect(Object.keys(built).sort()).toEqual(expected)
  })

  it('brings no server to a front end', () => {
    expect(manifest.dependencies).toBeUndefined()
  })
})
