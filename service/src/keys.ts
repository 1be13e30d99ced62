import type { BucketKeys } from './bucket/bucket.ts'
import { ConfigError, type Config } from './config.ts'
import type { Provider } from './ports.ts'

export interface KeyOptions {
  config: Config
  /** The key of the configuration's provider. */
  providerKey?: string | undefined
  /** The keys of the configuration's bucket. */
  bucketKeys?: { [K in keyof BucketKeys]?: string | undefined } | undefined
  /** Who makes the pictures, in place of the configuration's. */
  provider?: Provider | undefined
}

/** Throws `ConfigError` where a key is missing of what the configuration names. */
export function checkKeys({ config, provider, providerKey, bucketKeys = {} }: KeyOptions): void {
  if (config.bucket !== null && !(bucketKeys.id && bucketKeys.secret))
    throw new ConfigError(
      'bucket: its keys are missing; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment give them',
    )
  if (config.generator !== null && !provider && !providerKey)
    throw new ConfigError('generator: its key is missing; FASHN_API_KEY in the environment gives it')
  // as `echo` gives it with its newline, no request could be made with it
  if (/[^\x21-\x7e]/.test(providerKey ?? ''))
    throw new ConfigError('generator: FASHN_API_KEY has a space, a line break or another character that no key has')
}
