import type { Queries } from './database.ts'
import { gathered } from './gathered.ts'

/** Something that many ask at once. */
export interface Question<A, R> {
  /** What it is called in a statement. */
  name: string
  /** A statement for all that is asked of it, with a `$1` and on of its own. */
  text: string
  /** An expression for those of its rows that are read, as the text of a JSON array or null; all of them where nothing is said. */
  rows?: string
  /**
   * It holds what others wait for until all of its answer is sent, which a process that stands still does not take: what may
   * have a long answer is no statement with it.
   */
  holdsOthers?: boolean
  of(asked: A[]): Call<R>
}

interface Call<R> {
  values: readonly unknown[]
  /** What the rows that are read, as JSON, say to each that was asked. */
  answers(rows: never[]): R[] | Promise<R[]>
}

interface Asked {
  question: Question<unknown, unknown>
  item: unknown
  answer?: unknown
}

/** All that is asked of one question. */
type Group = [Question<unknown, unknown>, Asked[]]

/** How much is asked in one round at the most. */
const mostAsked = 1_000

/**
 * Asks the database in rounds: whatever comes while one is out goes with the next one, in the order in which it came, as
 * one statement, and one for what holds others. So what a request asks takes one round, however much it is and however many
 * requests there are.
 */
export type Rounds = <A, R>(question: Question<A, R>) => (item: A) => Promise<R>

export function openRounds({ query }: Queries): Rounds {
  const texts = new Map<string, string>()

  async function answer(groups: Group[]): Promise<void> {
    // in one order, so that there are few statements
    const sorted = groups.toSorted(byName)
    const questions = sorted.map(([question]) => question)
    const calls = sorted.map(([question, asked]) => question.of(asked.map(({ item }) => item)))
    const names = questions.map(({ name }) => name).join()
    const text = texts.get(names) ?? statementOf(questions, calls)
    texts.set(names, text)
    const [row] = await query<Record<string, string | null>>(
      text,
      calls.flatMap(({ values }) => values),
    )
    for (const [at, [{ name }, asked]] of sorted.entries()) {
      const answers = await calls[at]!.answers(JSON.parse(row?.[name] ?? '[]') as never[])
      asked.forEach((each, place) => (each.answer = answers[place]))
    }
  }

  const ask = gathered<Asked, unknown>(async (all) => {
    const groups = groupsOf(all)
    const statements = [
      groups.filter(([{ holdsOthers }]) => !holdsOthers),
      groups.filter(([{ holdsOthers }]) => holdsOthers),
    ].filter(({ length }) => length > 0)
    const ends = await Promise.allSettled(statements.map(answer))
    for (const end of ends) if (end.status === 'rejected') throw end.reason
    return all.map((each) => each.answer)
  }, mostAsked)

  return <A, R>(question: Question<A, R>) =>
    (item: A) =>
      ask({ question, item }) as Promise<R>
}

/** Texts without quotes, commas or spaces as an array: that costs a tenth of what any others do. */
export const plainArray = (texts: readonly (string | number)[]): string => `{${texts.join()}}`

const byName = ([a]: Group, [b]: Group) => (a.name < b.name ? -1 : 1)

function groupsOf(all: Asked[]): Group[] {
  const groups = new Map<Question<unknown, unknown>, Asked[]>()
  for (const each of all) {
    const group = groups.get(each.question)
    if (group) group.push(each)
    else groups.set(each.question, [each])
  }
  return [...groups]
}

/** One statement for several questions: a row with a column for each, which has all of its rows. */
function statementOf(questions: Question<never, unknown>[], calls: Call<unknown>[]): string {
  const before = (at: number) => calls.slice(0, at).reduce((sum, { values }) => sum + values.length, 0)
  const tables = questions.map(
    ({ name, text }, at) => `${name} as (${text.replace(/\$(\d+)/g, (_, own) => `$${before(at) + Number(own)}`)})`,
  )
  const columns = questions.map(
    ({ name, rows = `json_agg(${name})::text` }) => `(select ${rows} from ${name}) as ${name}`,
  )
  return `with ${tables.join(', ')} select ${columns.join(', ')}`
}
