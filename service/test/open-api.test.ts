import { readFileSync } from 'node:fs'
import { createService, parseConfig, memoryStore } from '@fitting-room/service'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { ObjectSchema } from 'fitting-room/contract'
import { describe, expect, it, onTestFinished } from 'vitest'
import { suiteConfig } from '../../test/support/suite-config.ts'
import { undrawn } from '../../test/support/undrawn.ts'
import { jsonSchemaOf, openApi, resources } from '../src/open-api.ts'
import { png } from './contract.suite.ts'

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
ajv.addSchema(openApi, 'api')

const id = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'
/** What a field may be sent, or not. */
const values: unknown[] = [
  '',
  ' ',
  'x',
  '7',
  '007',
  '0',
  '-1',
  'a,b',
  '1,2',
  id,
  id.toUpperCase(),
  `${id}0`,
  'ada@example.com',
  'ada@',
  '@',
  'http://a.example/b',
  'HTTPS://a.example',
  'ftp://a.example',
  '/photo.png',
  'http://a b',
  'mailto:a@b.c',
  'gid://shop/Product/7',
  'gid://shop/ProductVariant/7',
  'gid://shop/Other/7',
  'gid://shop/Product/0',
  'image/png',
  'image/heif',
  'image/gif',
  'Look_1-a',
  'x'.repeat(100),
  'x'.repeat(101),
  '../x',
  'upper_body',
  'shoes',
  'SERVICE_PRO',
  'pro',
  'PENDING',
  'READY',
  'PROCESSING',
  'ERROR',
  'SUCCESS',
  'DONE',
  0,
  1,
  -1,
  -2,
  7,
  1.5,
  2 ** 53,
  true,
  false,
  null,
  undefined,
  {},
  [],
  ['x'],
  { apiUrl: 'http://a.example', publicToken: 'x' },
  { apiUrl: 'x' },
]

function exampleOf({ shape }: ObjectSchema<unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(shape).map(([name, schema]) => [name, values.find((each) => schema.safeParse(each).success)]),
  )
}

describe('the API as OpenAPI says it', () => {
  it('is of version 3.1, and the file that comes with the package', async () => {
    expect(await new Validator().validate(structuredClone(openApi))).toMatchObject({ valid: true })
    const file = readFileSync(new URL('../openapi.json', import.meta.url), 'utf8')
    // npm run openapi writes it
    expect(JSON.parse(file)).toEqual(JSON.parse(JSON.stringify(openApi)))
  })

  it.each(Object.entries(resources))('takes the values of a %s that the contract takes, and no others', (_, schema) => {
    const validate = ajv.compile(jsonSchemaOf(schema))
    const example = exampleOf(schema)
    const sent = Object.keys(schema.shape).flatMap((name) => values.map((value) => ({ ...example, [name]: value })))
    const unlike = sent.filter((each) => {
      const known = JSON.parse(JSON.stringify(each)) as unknown
      return validate(known) !== schema.safeParse(known).success
    })
    expect(schema.safeParse(example).success).toBe(true)
    expect(unlike).toEqual([])
  })

  it('is what the service answers', async () => {
    const store = memoryStore()
    const config = parseConfig({ ...suiteConfig, generation: { previewAfterMs: 0, readyAfterMs: 0 } })
    const service = createService({ config, store, publicUrl: 'http://service.test', ...undrawn, report: () => {} })
    onTestFinished(() => service.close())
    const seen = new Set<string>()

    /** The answer's data; fails where the answer is none of those that are said. */
    async function call(method: 'get' | 'post', path: string, template: string, body?: object, key = 'main-key') {
      const headers = { 'X-Service-SDK-Key': key, 'Content-Type': 'application/json' }
      const init = { method: method.toUpperCase(), headers, ...(body && { body: JSON.stringify(body) }) }
      const answer = await service.fetch(new Request(`http://service.test${path}`, init))
      const content = (await answer.json()) as { data: any }
      const pointer = ['paths', template, method, 'responses', String(answer.status), 'content', 'application/json']
      const at = [...pointer, 'schema'].map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
      const validate = ajv.getSchema(`api#/${at.replaceAll('{', '%7B').replaceAll('}', '%7D')}`)
      expect([template, answer.status, validate?.(content), validate?.errors]).toEqual([
        template,
        answer.status,
        true,
        null,
      ])
      seen.add(`${template} ${answer.status}`)
      return content.data
    }

    await call('get', '/context', '/context')
    await call('get', '/context', '/context', undefined, 'no-such-key')
    await call('get', '/funnel?funnelIds=12', '/funnel')
    await call('get', '/funnel?funnelIds=99', '/funnel')
    await call('get', '/funnel', '/funnel')
    const { uploadUrl, imageUrl } = await call('post', '/uploads', '/uploads', { contentType: 'image/png' })
    await service.fetch(new Request(uploadUrl, { method: 'PUT', body: png, headers: { 'Content-Type': 'image/png' } }))
    await call('get', '/requests-left', '/requests-left')
    await call('post', '/customer-register', '/customer-register', { email: 'ada@example.com', uniqueUserId: 'ada' })
    const order = { funnelId: 12, productId: '1001', variantId: '2001', imageUrl, uniqueUserId: 'ada' }
    const { jobId } = await call('post', '/generations', '/generations', order)
    const failing = await call('post', '/generations', '/generations', { ...order, variantId: '2003' })
    await call('post', '/generations', '/generations', { ...order, productId: '9999' })
    await call('post', '/generations', '/generations', { ...order, variantId: '2008' })
    await call('get', `/generations/${jobId}`, '/generations/{jobId}')
    await expect.poll(async () => (await store.job(jobId))?.state).toBe('rendered')
    await expect.poll(async () => (await store.job(failing.jobId))?.state).toBe('failed')
    await call('get', `/generations/${jobId}`, '/generations/{jobId}')
    await call('get', `/generations/${failing.jobId}`, '/generations/{jobId}')
    await call('get', `/generations/${id}`, '/generations/{jobId}')
    expect(seen.size).toBe(13)
    const served = await service.fetch(new Request('http://service.test/openapi.json'))
    expect(await served.json()).toEqual(JSON.parse(JSON.stringify(openApi)))
  })
})
