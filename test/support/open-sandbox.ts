import { sandboxConfig, type Config } from '@fitting-room/service'

/** The sandbox without its e-mail gate, which every test from this address would share, with times of the test's own. */
export function openSandbox(generation: Config['generation']): Config {
  const config = sandboxConfig()
  return {
    ...config,
    generation,
    stores: config.stores.map((store) => ({ ...store, email: null })),
  }
}
