import { runInNewContext } from 'node:vm'
import { explain, isTryOnError, TryOnError, type Problem } from 'fitting-room'
import { createRoom } from 'fitting-room/core'
import { problems } from 'fitting-room/testing'
import { beforeAll, describe, expect, it } from 'vitest'
import { problem } from '../src/rules/problem.ts'

const all: Problem[] = Object.values(problems)

const explainedEarly = explain({ kind: 'photo', reason: 'camera' })

/** The core brings the texts of its problems, and those of tickets and pictures come with the code for them. */
beforeAll(async () => {
  const room = createRoom({ baseUrl: 'https://api.test', apiKey: 'key' })
  await expect(room.claim('no ticket')).rejects.toMatchObject({ kind: 'ticket' })
  room.close()
})

describe('a problem', () => {
  it('whose text no core has brought yet is told as it is', () =>
    expect(explainedEarly).toBe('{"kind":"photo","reason":"camera"}'))

  it('is explained by nothing where there is none', () => expect(explain(null)).toBe(''))

  it.each(all)('of kind $kind is explained', (each) => expect(explain(each)).toMatch(/^\S.{10,}\S$/))

  // a ticket's are neither kept nor passed on
  it.each(all.filter(({ kind }) => kind !== 'ticket'))('of kind $kind is read again as it was', (each) =>
    expect(problem.safeParse(JSON.parse(JSON.stringify(each))).data).toEqual(each),
  )

  it('of an intent or a state that does not exist is not read', () => {
    expect(problem.safeParse({ kind: 'notAllowed', intent: 'pay', state: 'idle' }).success).toBe(false)
    expect(problem.safeParse({ kind: 'notAllowed', intent: 'retry', state: 'bored' }).success).toBe(false)
  })
})

describe('a TryOnError', () => {
  it('has its problem, its kind, the job ID and the cause', () => {
    const cause = new TypeError('x')
    const error = new TryOnError(problems.internal, 'job-1', cause)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name: 'TryOnError', kind: 'internal', jobId: 'job-1', cause })
    expect(error.message).toContain('job-1')
    expect(new TryOnError(problems.deadline)).toMatchObject({ jobId: null })
    expect(new TryOnError(problems.deadline)).not.toHaveProperty('cause')
  })

  it('is recognised by its own class, and from another realm or copy', () => {
    const foreign: unknown = runInNewContext(
      "Object.assign(new Error('x'), { name: 'TryOnError', problem: { kind: 'deadline' }, jobId: null })",
    )
    expect(foreign).not.toBeInstanceOf(Error)
    expect([new TryOnError(problems.deadline), foreign].map(isTryOnError)).toEqual([true, true])
  })

  it('is nothing else', () => {
    const others = [
      null,
      undefined,
      'TryOnError',
      new Error('x'),
      { name: 'TryOnError' },
      { problem: problems.deadline },
    ]
    for (const other of others) expect(isTryOnError(other)).toBe(false)
  })
})

it('an answer that is nothing of the service asks for the address', () => {
  expect(explain({ ...problems.protocol, at: '' })).toContain('is baseUrl its address?')
  expect(explain({ ...problems.protocol, at: 'data.jobId' })).toMatch(/ at "data\.jobId"$/)
  const unknown = { ...problems.protocol, operation: 'getGeneration', status: 404, error: 'Job not found' } as const
  expect(explain(unknown)).toMatch(/knows no such job \(404: Job not found\)/)
})
