import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sandboxConfig } from '@fitting-room/service'
import { describe, expect, it } from 'vitest'
import { exitCodes } from '../examples/terminal/exit-codes.ts'
import { tryOnStates } from '../src/rules/words.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(`${root}README.md`, 'utf8')
const rows = (first: RegExp) =>
  [...readme.matchAll(/^\| ([^|]+) \| ([^|]+) \|/gm)]
    .map(([, key = '', value = '']) => [key.trim(), value.trim()])
    .filter(([key = '']) => first.test(key))

describe('the README', () => {
  it('gives the sizes that are measured', () => {
    const measured = JSON.parse(execFileSync('npx', ['size-limit', '--json'], { cwd: root, encoding: 'utf8' })) as {
      name: string
      size: number
    }[]
    const shown = measured.map(({ name, size }) => [name, size < 1000 ? `${size} B` : `${(size / 1000).toFixed(1)} kB`])
    const stated = rows(/^`fitting-room/).map(([name = '', size]) => [name.split('`')[1], size])
    expect(stated).toEqual(shown)
  })

  it('lists the test variants of the sandbox', () => {
    const variants = sandboxConfig().stores.flatMap(
      ({ products }) => products.find(({ id }) => id === '1009')?.variants ?? [],
    )
    expect(rows(/^90\d\d$/)).toEqual(variants.map(({ id, title }) => [id, title]))
  })

  it('lists the exit codes of the terminal', () => {
    const stated = rows(/^\d{1,3}$/).map(([code, text = '']) => [text.split(':')[0], Number(code)])
    expect(stated).toEqual(Object.entries(exitCodes))
  })

  it('names commands that exist', () => {
    const { scripts } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { scripts: Record<string, string> }
    for (const [, name = ''] of readme.matchAll(/npm (?:run )?(start|test|[a-z]+(?:-[a-z]+)?) --/g))
      expect(scripts).toHaveProperty(name)
    expect(scripts).toHaveProperty('start')
    expect(scripts).toHaveProperty('test')
  })

  it('lists every state of the view', () => {
    const table = /^\| state \|[^]*?\n\n/m.exec(readme)?.[0] ?? ''
    const stated = [...table.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, names = '']) => names.match(/\w+/g) ?? [])
    expect(stated.toSorted()).toEqual([...tryOnStates].toSorted())
  })
})
