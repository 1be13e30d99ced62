import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Observer, Store } from '../ports.ts'
import { orNothing } from './or-nothing.ts'

export interface Metrics extends Observer {
  /** All of them, as Prometheus reads them. */
  text(): Promise<string>
  readonly contentType: string
}

/** What the service counts of itself; nothing in it is a shopper's. `waiting` has how many jobs wait, and is asked with each look. */
export function createMetrics(waiting: Store['waiting']): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Histogram({
    name: 'fitting_room_request_seconds',
    help: 'How long requests took, by operation and status',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers,
  })
  const jobs = new Counter({
    name: 'fitting_room_jobs_ended_total',
    help: 'Jobs that this process has ended, by state',
    labelNames: ['state'],
    registers,
  })
  const waits = new Histogram({
    name: 'fitting_room_job_seconds',
    help: 'From when a job was accepted to its end',
    buckets: [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600],
    registers,
  })
  const line = new Gauge({
    name: 'fitting_room_jobs_waiting',
    help: 'Jobs that wait, of all processes, by stage',
    labelNames: ['stage'],
    registers: [],
    async collect() {
      const counts = await orNothing(waiting())
      // what is not known is no number
      this.reset()
      for (const [stage, count] of Object.entries(counts ?? {})) this.set({ stage }, count)
    },
  })
  registry.registerMetric(line)
  return {
    answered: (operation, status, seconds) => requests.observe({ operation, status }, seconds),
    ended({ state }, seconds) {
      jobs.inc({ state })
      waits.observe(seconds)
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}
