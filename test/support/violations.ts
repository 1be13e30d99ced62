import { source } from 'axe-core'

/** What a page runs to say what axe-core finds wrong with it, by the names of its rules. */
export const findViolations = `(() => {
  ${source}
  return axe.run().then(({ violations }) => violations.map(({ id }) => id))
})()`
