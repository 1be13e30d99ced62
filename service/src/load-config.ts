import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError, isUrl, parseConfig, type Config } from './config.ts'

/** Reads a configuration file; product images are taken relative to it. */
export function loadConfig(file: string): Config {
  let input: unknown
  try {
    input = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new ConfigError(`${file} can not be read as JSON: ${(error as Error).message}`)
  }
  const read = parseConfig(input)
  for (const { products } of read.stores) {
    for (const each of products) {
      if (each.image && !isUrl(each.image)) each.image = resolve(dirname(file), each.image)
    }
  }
  return read
}
