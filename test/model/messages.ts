import type { Injected } from './operations.ts'

const jobId = '00000000-0000-4000-8000-00000000dead'
const foreignView = {
  state: 'final',
  attempt: { id: 'foreign', jobId, startedAt: 0 },
  result: { status: 'SUCCESS', imageUrl: 'https://api.test/pictures/foreign.jpeg', requestsLeft: 1, totalRequests: 1 },
  can: { start: false, retry: true, startOver: true, resume: false, submitEmail: false, discard: true },
  problem: null,
  preview: null,
  message: null,
  waitingUntil: null,
  durable: true,
  exclusive: true,
}

/** What somebody else says on the channels of a room: nonsense, other versions, and what another room would say. */
export function messagesOf(kind: Injected, said: readonly unknown[]): unknown[] {
  const last = said.findLast((message) => typeof message === 'object' && message !== null) ?? {}
  const name = 'name' in last && typeof last.name === 'string' ? last.name : 'nobody'
  switch (kind) {
    case 'null':
      return [null]
    case 'junk':
      return [42, 'text', [], {}, { type: 'answered', name }, { type: 'view', name }, { type: 'ask', name }, { name }]
    case 'old':
      return [
        { type: 'hello', name },
        { type: 'answer', name, id: 'nobody', problem: null, jobId: null },
      ]
    case 'newer':
      return [{ ...last, version: 99, v: 99, type: 'future' }]
    case 'view':
      return [{ type: 'view', name, view: foreignView }]
    case 'answer':
      return [{ type: 'answered', name, step: { record: { attemptId: 'foreign', job: { jobId } }, durable: true } }]
    case 'reset':
      return [{ type: 'reset' }]
  }
}
