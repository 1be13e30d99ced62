import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Application } from 'typedoc'
import { statesPage } from './states.ts'

/** Writes the pages that are made from the code: `docs/states.md`, and the API as a site in `docs/api`. */
const root = fileURLToPath(new URL('../../', import.meta.url))
const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
  exports: Record<string, string | Record<string, string>>
}
writeFileSync(`${root}docs/states.md`, statesPage())

/** The file of each entry point, by the name that it is imported by. */
const entries = Object.entries(exports).flatMap(([name, entry]) => {
  const file = typeof entry === 'string' ? undefined : entry['fitting-room-source']
  return file === undefined ? [] : [{ name: `fitting-room${name.slice(1)}`, file: file.slice(2) }]
})
const app = await Application.bootstrap({
  name: 'fitting-room',
  entryPoints: entries.map(({ file }) => root + file),
  tsconfig: `${root}tsconfig.json`,
  readme: `${root}README.md`,
  projectDocuments: [`${root}docs/*.md`],
  out: `${root}docs/api`,
  excludePrivate: true,
  highlightLanguages: ['bash', 'css', 'html', 'json', 'mermaid', 'svelte', 'ts', 'tsx', 'vue'],
  // what a public type is made of has no page of its own, and README links to folders
  validation: { notExported: false, invalidLink: true, invalidPath: false },
})
const project = await app.convert()
if (!project) throw new Error('the types and comments could not be read')
for (const module of project.children ?? []) {
  const entry = entries.find(({ file }) => file.replace(/(\/index)?\.ts$/, '') === module.name)
  module.name = entry?.name ?? module.name
}
app.validate(project)
await app.generateOutputs(project)
if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exitCode = 1
