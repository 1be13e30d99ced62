import { VERSION as angular } from '@angular/core'
import { version as react } from 'react'
import { expect, it } from 'vitest'
import { version as vue } from 'vue'
import packageJson from '../../package.json' with { type: 'json' }
import ofSvelte from './names-of-svelte.js'
import oldest from './package.json' with { type: 'json' }

it('what the bindings are tested with here is the oldest that they are for', () => {
  const { dependencies } = oldest
  const ofAngular = dependencies['@angular/core']
  expect([react.split('-')[0], vue, angular.full]).toEqual([dependencies.react, dependencies.vue, ofAngular])
  // it tells no version, but has nothing of what came later
  expect(ofSvelte).not.toContain('settled')
  const { peerDependencies } = packageJson
  for (const name of ['@angular/core', 'preact', 'react', 'solid-js', 'svelte', 'vue'] as const)
    expect(`${dependencies[name]}.`.startsWith(`${peerDependencies[name].slice('>='.length)}.`), name).toBe(true)
})
