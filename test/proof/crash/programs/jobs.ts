/** The jobs of the torture, for the program that is killed and for the one that cleans up behind it. */
import { defineJob, type Handler, type JobInfo } from '@millrace/engine'

const backoff = { type: 'fixed', delay: 5 } as const
// A kill uses an attempt of whatever runs: enough for every kill of a torture.
const maxAttempts = 200

export const jobs = {
  plain: defineJob({ name: 'plain', backoff, maxAttempts }),
  large: defineJob({ name: 'large', backoff, maxAttempts }),
  flaky: defineJob({ name: 'flaky', backoff, maxAttempts }),
  parent: defineJob({ name: 'parent', backoff, maxAttempts }),
  /** Without a handler while the torture goes on. */
  unserved: defineJob({ name: 'unserved' }),
}

export function handlersFor(started: (job: JobInfo) => void): Handler[] {
  return [
    jobs.plain.handler(({ job }) => started(job)),
    jobs.large.handler(async ({ job, data }) => {
      started(job)
      await null
      return (data as string).length
    }),
    jobs.flaky.handler(({ job }) => {
      started(job)
      if (job.attempt % 3 !== 0) throw new Error('not yet')
    }),
    jobs.parent.handler(async ({ job, data, enqueue, checkpoint }) => {
      started(job)
      const { children } = data as { children: number }
      for (let child = 0; child < children; child++) enqueue(jobs.plain, { parent: job.id, child })
      await checkpoint(children)
      return children
    }),
  ]
}
