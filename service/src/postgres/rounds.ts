import type { Queries } from './database.ts'
import { oneCallAtATime, settle, type Waiting } from './gathered.ts'

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

type AnyQuestion = Question<unknown, unknown>

/** All that is asked of one question. */
type Group = [AnyQuestion, Waiting<unknown, unknown>[]]

/** How much is asked of a question in one round at the most. */
const mostAsked = 1_000

/**
 * Asks the database in rounds: whatever comes while one is out goes with the next one, in the order in which it came, as
 * one statement, and one for what holds others. So what a request asks takes one round, however much it is and however many
 * requests there are.
 */
export type Rounds = <A, R>(question: Question<A, R>) => (item: A) => Promise<R>

export function openRounds({ query }: Queries): Rounds {
  const texts = new Map<string, string>()
  const waiting = new Map<AnyQuestion, Waiting<unknown, unknown>[]>()

  /** What waits, which waits no more. */
  function take(): Group[] {
    const groups = [...waiting].map(([question, asked]): Group => [question, asked.splice(0, mostAsked)])
    for (const [question, asked] of waiting) if (asked.length === 0) waiting.delete(question)
    return groups
  }

  async function answer(groups: Group[]): Promise<void> {
    // in one order, so that there are few statements
    const sorted = groups.toSorted(byName)
    const questions = sorted.map(([question]) => question)
    const calls = sorted.map(([question, asked]) => question.of(asked.map(({ item }) => item)))
    const names = questions.map(({ name }) => name).join()
    const text = texts.get(names) ?? statementOf(questions, calls)
    texts.set(names, text)
    const answered = query<Record<string, string | null>>(
      text,
      calls.flatMap(({ values }) => values),
    )
    const read = async (at: number) => {
      const [row] = await answered
      return calls[at]!.answers(JSON.parse(row?.[questions[at]!.name] ?? '[]') as never[])
    }
    await Promise.all(sorted.map(([, asked], at) => settle(asked, () => read(at))))
  }

  const come = oneCallAtATime(
    () => waiting.size > 0,
    async () => {
      const groups = take()
      const statements = [
        // the one that takes longest begins first
        groups.filter(([{ holdsOthers }]) => !holdsOthers),
        groups.filter(([{ holdsOthers }]) => holdsOthers),
      ].filter(({ length }) => length > 0)
      // whatever ends one, nobody is left waiting
      const reject = (of: Group[], error: unknown) =>
        of.forEach(([, asked]) => asked.forEach((each) => each.reject(error)))
      await Promise.all(statements.map((of) => answer(of).catch((error: unknown) => reject(of, error))))
    },
  )

  return <A, R>(question: Question<A, R>) =>
    (item: A) =>
      new Promise((resolve, reject) => {
        const asked = waiting.get(question)
        const each = { item, resolve, reject } as Waiting<unknown, unknown>
        if (asked) asked.push(each)
        else waiting.set(question, [each])
        come()
      })
}

/** Texts without quotes, commas or spaces as an array: that costs a tenth of what any others do. */
export const plainArray = (texts: readonly (string | number)[]): string => `{${texts.join()}}`

const byName = ([a]: Group, [b]: Group) => (a.name < b.name ? -1 : 1)

/** One statement for several questions: a row with a column for each, which has all of its rows. */
function statementOf(questions: AnyQuestion[], calls: Call<unknown>[]): string {
  const before = (at: number) => calls.slice(0, at).reduce((sum, { values }) => sum + values.length, 0)
  const tables = questions.map(
    ({ name, text }, at) => `${name} as (${text.replace(/\$(\d+)/g, (_, own) => `$${before(at) + Number(own)}`)})`,
  )
  const columns = questions.map(
    ({ name, rows = `json_agg(${name})::text` }) => `(select ${rows} from ${name}) as ${name}`,
  )
  return `with ${tables.join(', ')} select ${columns.join(', ')}`
}
