import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ConfigError, isUrl, parseConfig, type Config } from './config.ts'

/** Reads a configuration file; product images are taken relative to it, and must be there. Throws `ConfigError`. */
export function loadConfig(file: string): Config {
  const read = parseConfig(readJson(file))
  const wrong: string[] = []
  read.stores.forEach(({ products }, store) =>
    products.forEach((each, product) => {
      if (!each.image || isUrl(each.image)) return
      each.image = resolve(dirname(file), each.image)
      if (!statSync(each.image, { throwIfNoEntry: false })?.isFile())
        wrong.push(`  stores[${store}].products[${product}].image: there is no file ${each.image}`)
    }),
  )
  if (wrong.length > 0) throw new ConfigError(`the configuration is not valid:\n${wrong.join('\n')}`)
  return read
}

/** Throws `ConfigError`. */
export function readJson(file: string): unknown {
  let text: string
  try {
    // some editors begin a file with a mark
    text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    throw new ConfigError(`${file} cannot be read: ${(error as Error).message}`)
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    // with the text beside it there may be a key
    const [position = ''] = / at position \d+( \(line \d+ column \d+\))?/.exec((error as Error).message) ?? []
    throw new ConfigError(`${file} is no JSON${position}`)
  }
}
