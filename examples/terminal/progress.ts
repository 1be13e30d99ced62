import { SingleBar } from 'cli-progress'
import type { TryOnView } from 'fitting-room'

const labels: Partial<Record<TryOnView['state'], string>> = {
  preparing: 'uploading',
  submitting: 'submitting',
  processing: 'generating (estimate)',
  preview: 'preview, finishing (estimate)',
}

/** One bar on a terminal; on anything else one line for every state. */
export function showProgress(stream: NodeJS.WriteStream): { show(view: TryOnView): void; end(): void } {
  let last: string | null = null
  let bar: SingleBar | null = null

  const end = () => {
    bar?.stop()
    bar = null
  }
  return {
    end,
    show({ state, progress, attempt, waitingUntil }) {
      const label = labels[state]
      if (label === undefined) return end()
      const line =
        waitingUntil === null ? label : `${label}, waiting until ${new Date(waitingUntil).toLocaleTimeString()}`
      if (!stream.isTTY) {
        const full = attempt?.jobId ? `${line} (job ${attempt.jobId})` : line
        if (full !== last) stream.write(`${full}\n`)
        last = full
        return
      }
      if (bar === null) {
        bar = new SingleBar({ format: '{bar} {percentage}%  {label}', stream, hideCursor: true, gracefulExit: false })
        bar.start(100, 0, { label: line })
      }
      bar.update(Math.round((progress?.value ?? 0) * 100), { label: line })
    },
  }
}
