import type { Job } from '@fitting-room/service'
import type { TryOnView } from 'fitting-room'
import { baseUrl } from './page.ts'
import { photoOf, type Word, type Words } from './words.ts'

/** States that say that nothing was started. */
const unstarted: readonly TryOnView['state'][] = ['preparing', 'rejected', 'needsEmail', 'limitReached']

/** Why the service's own ledger denies what a page shows. */
export function truthOf(
  view: TryOnView,
  jobs: ReadonlyMap<string, Job>,
  now: number,
  word: Word | undefined,
  words: Words,
): string[] {
  const jobId = view.attempt?.jobId ?? null
  const job = jobId === null ? undefined : jobs.get(jobId)
  const isOfWord = (each: Job) => word !== undefined && photoOf(each).includes(word.photo)
  const denials = {
    'the service knows no such job': jobId !== null && !job,
    'there is no job': ['processing', 'preview', 'final', 'failed'].includes(view.state) && !job,
    'the job is of another word': job !== undefined && word !== undefined && !isOfWord(job),
    'that is not the preview': view.preview !== null && !isPicture(view.preview.imageUrl, job),
    'that is not the picture': view.result !== null && !isPicture(view.result.imageUrl, job, 'final'),
    'the picture is not ready': view.state === 'final' && (!job || now < job.readyAt),
    'the job has not failed': view.state === 'failed' && job?.state !== 'failed',
    'a job was started':
      word !== undefined && saysNothingStarted(view) && isAlone(word, words) && [...jobs.values()].some(isOfWord),
  }
  return Object.entries(denials).flatMap(([why, isDenied]) => (isDenied ? [`${view.state}, but ${why}`] : []))
}

const isPicture = (url: string, job: Job | undefined, ...which: ('preview' | 'final')[]) =>
  (which.length > 0 ? which : (['preview', 'final'] as const)).some(
    (each) => job?.pictures && url === `${baseUrl}/pictures/${job.pictures[each]}`,
  )

/** Which of several words for one photo a job is for, nobody can tell. */
const isAlone = (word: Word, words: Words) => words.all.filter(({ photo }) => photo === word.photo).length === 1

function saysNothingStarted(view: TryOnView): boolean {
  if (unstarted.includes(view.state)) return true
  if (view.state === 'unauthorized') return view.attempt.jobId === null
  return view.state === 'submitting' && view.waitingUntil !== null
}
