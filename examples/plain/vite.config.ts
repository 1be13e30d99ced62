import { sandboxConfig, serve } from '@fitting-room/service'
import { defineConfig } from 'vite'

/** The sandbox runs beside the page, which reaches it under /api; a shop has its installation there. */
export default defineConfig(async ({ command, isPreview }) => {
  const runs = command === 'serve' || isPreview
  const target = process.env['SANDBOX_URL'] ?? (runs ? (await serve({ config: sandboxConfig() }, 0)).url : '')
  const proxy = { '/api': { target, rewrite: (path: string) => path.slice('/api'.length) } }
  return { server: { proxy }, preview: { proxy } }
})
