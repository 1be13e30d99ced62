/** Nothing is known of a job by it: the queue hands the job to another process, or to this one once more. */
export class PutOff extends Error {}

/** What a store of jobs or pictures rejects with says nothing of the job that was at work. */
export function putOff(cause: unknown): never {
  throw new PutOff('a job is put off, as its store failed', { cause })
}
