export {
  ConfigError,
  loadConfig,
  parseConfig,
  testOutcome,
  type Config,
  type ConfigInput,
  type TestOutcome,
} from './config.ts'
export { fileBlobs } from './file-blobs.ts'
export { memoryBlobs, memoryQueue, memoryStore } from './memory.ts'
export type { Blob, BlobStore, Clock, Generator, Job, Ledger, Queue, Store, Visitor } from './ports.ts'
export { sandboxConfig } from './sandbox.ts'
export { serve, type RunningServer } from './server.ts'
export { createService, type Service, type ServiceOptions } from './service.ts'
export { AnswerLost, type Connection } from './app.ts'
