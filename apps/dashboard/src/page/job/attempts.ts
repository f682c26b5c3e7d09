/** How many attempts of its most a job has had. */
import type { JobAnswer } from '../api/answers.ts'
import { own } from '../api/own.ts'

/** Undefined before the first. The most is infinite if the server does not say it. */
export function attemptsOf(job: JobAnswer): readonly [attempt: number, most: number] | undefined {
  return job.attempt === 0 ? undefined : [job.attempt, numberOf(job, 'maxAttempts')]
}

/** Options of runs are numbers, whose names come from a table of the server's. */
function numberOf(job: JobAnswer, option: string): number {
  const value = own(job as Readonly<Record<string, unknown>>, option)
  return typeof value === 'number' ? value : Number.POSITIVE_INFINITY
}
