import { expect, it } from 'vitest'
import { createService, memoryStore, parseConfig } from '@fitting-room/service'
import { suiteConfig } from '../../test/support/suite-config.ts'

const config = parseConfig(suiteConfig)

it.each([
  ['ahead of', -60_000, 'the clock of this process is 60 s ahead of its database'],
  ['behind', 60_000, 'the clock of this process is 60 s behind its database'],
])('who runs a process is told that its clock is %s its database’s', async (_, byMs, said) => {
  const reported: unknown[] = []
  const now = async () => Date.now() + byMs
  const report = (error: unknown) => reported.push(String(error))
  const service = createService({ config, store: { ...memoryStore(), now }, report, publicUrl: '' })
  await expect.poll(() => reported).toEqual([expect.stringContaining(said)])
  await service.close()
})
