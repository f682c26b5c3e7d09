/** The neighbours of a job in its flow: those that it waits for, and those that wait for it. */
import type { FlowAnswer } from '../../api/answers.ts'

export type FlowJob = FlowAnswer['jobs'][number]

export interface Neighbours {
  readonly before: readonly FlowJob[]
  readonly after: readonly FlowJob[]
  /** How many more there are on each side, or may be: a large flow is read in part. */
  readonly moreBefore: number
  readonly moreAfter: number
  readonly total: number
  readonly failed: number
  /** False if there are more jobs than those that were read. */
  readonly isWhole: boolean
}

const SHOWN = 4

export function neighboursOf({ jobs, next }: FlowAnswer, id: string): Neighbours {
  const parents = new Set(jobs.find((job) => job.id === id)?.dependsOn.map((parent) => parent.id))
  const before = jobs.filter((job) => parents.has(job.id))
  const after = jobs.filter(({ dependsOn }) => dependsOn.some((parent) => parent.id === id))
  return {
    before: before.slice(0, SHOWN),
    after: after.slice(0, SHOWN),
    moreBefore: Math.max(0, parents.size - SHOWN),
    moreAfter: Math.max(0, after.length - SHOWN),
    total: jobs.length,
    failed: jobs.filter(({ state }) => state === 'failed').length,
    isWhole: next === undefined,
  }
}
