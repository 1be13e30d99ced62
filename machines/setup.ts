import { createMachine, type setup as typed } from 'xstate'

interface Parts {
  actors?: object
  actions?: object
  guards?: object
  delays?: object
}

const createStateConfig = <Config>(config: Config): Config => config

const lean = ({ actors, actions, guards, delays }: Parts) => ({
  createStateConfig,
  createMachine: (config: Parameters<typeof createMachine>[0]) =>
    createMachine(config, { actors, actions, guards, delays } as Parameters<typeof createMachine>[1]),
})

/**
 * XState's `setup`, which would bring every action creator into the bundle, used or not: what these machines use of it
 * has its types.
 */
export const setup = lean as unknown as typeof typed
