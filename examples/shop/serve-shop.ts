import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sandboxConfig } from '@fitting-room/service'
import { build, preview, type InlineConfig, type Plugin } from 'vite'
import type { Product, Settings } from './src/catalog.ts'
import type { Sandbox } from './sandbox.ts'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const usualPort = 4173

const prices: Record<string, string> = {
  '1001': '€ 39',
  '1002': '€ 129',
  '1003': '€ 89',
  '1004': '€ 79',
  '1005': '€ 149',
  '1006': '€ 59',
  '1007': '€ 15',
  '1009': 'For testing',
}

function settingsOf({ baseUrl, apiKey }: Sandbox): Settings {
  const [store] = sandboxConfig().stores
  const products = (store?.products ?? []).map(({ id, title, image, variants }): Product => ({
    id,
    title,
    price: prices[id] ?? '',
    image: `/${basename(image ?? '')}`,
    funnelIds: (store?.funnels ?? []).filter(({ productIds }) => productIds.includes(id)).map((funnel) => funnel.id),
    variants: variants.map((variant) => ({ id: variant.id, title: variant.title, available: variant.available })),
  }))
  return { baseUrl, apiKey, products }
}

/** Answers what is known only at run time: the service's address, its key and the catalogue. */
const runtimeFiles = (settings: Settings): Plugin => ({
  name: 'shop-runtime-files',
  configurePreviewServer({ middlewares }) {
    middlewares.use('/settings.json', (_, response) => {
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify(settings))
    })
  },
})

/** Builds the shop into a folder and serves it on 127.0.0.1, on its usual port or the next free one. */
export async function serveShop(
  sandbox: Sandbox,
  port = usualPort,
  outDir = here('dist'),
): Promise<{ url: string; close(): Promise<void> }> {
  const shared: InlineConfig = {
    root: here('.'),
    configFile: false,
    publicDir: here('../../service/garments'),
    logLevel: 'warn',
    resolve: { conditions: ['fitting-room-source', 'module', 'browser', 'production'] },
  }
  await build({
    ...shared,
    build: { outDir, emptyOutDir: true, target: 'es2022', reportCompressedSize: false },
  })
  const server = await preview({
    ...shared,
    plugins: [runtimeFiles(settingsOf(sandbox))],
    build: { outDir },
    preview: { host: '127.0.0.1', port, strictPort: false },
  })
  const url = server.resolvedUrls?.local[0] ?? ''
  return { url, close: () => server.close() }
}
