import { sandboxConfig, type Config } from '@fitting-room/service'

/** The sandbox without its e-mail gate, with times of the test's own; tests may speak for several addresses. */
export function openSandbox(generation: Config['generation']): Config {
  const config = sandboxConfig()
  return {
    ...config,
    generation,
    trustedProxies: ['127.0.0.1'],
    stores: config.stores.map((store) => ({ ...store, email: null })),
  }
}
