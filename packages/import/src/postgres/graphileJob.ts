/** Translates a job of Graphile Worker, as its row has it. */
import { attemptsLeft, capped, dataOf, priorityOf } from '../mapping.ts'
import { ACTIVE_LEFT, type Found, type Outcome } from '../source.ts'
import { unlessUnfit } from '../unfit.ts'
import type { Row } from './snapshot.ts'

/** Names each feature of Graphile Worker that a job may use, and what becomes of it. docs/import.md has the same table. */
export const FEATURES = {
  run_at: 'The job keeps its time.',
  priority: 'Turned round: 5 becomes -5, because Millrace starts the highest number first.',
  attempts: 'The job gets the attempts that it has left, with the same delays between them.',
  job_key: 'It becomes the `unique` key of the job.',
  queue_name: 'It becomes the `concurrencyKey` of the job.',
  flags: 'They become tags.',
} as const

type GraphileState = 'available' | 'scheduled' | 'locked'

/** The delays of Graphile Worker are e^n seconds, up to e^10. */
const [FACTOR, STEPS, SECOND] = [Math.E, 10, 1_000]

export function graphileFound(row: Row, includeActive: boolean): Found {
  const { id, task, state, created } = row as { readonly [name in string]: string }
  const uses = new Set<keyof typeof FEATURES>()
  const outcome = unlessUnfit(() => outcomeOf(row, state as GraphileState, includeActive, uses))
  return { queue: task as string, state: state as string, id: `${id}:${created}`, uses: [...uses], outcome }
}

function outcomeOf(row: Row, state: GraphileState, includeActive: boolean, uses: Set<keyof typeof FEATURES>): Outcome {
  if (state === 'locked' && !includeActive) return { as: 'left', why: ACTIVE_LEFT }
  const { task, payload, priority, attempts, max_attempts, run_at, key, queue_name, flags } = row
  const data = dataOf(payload as string)
  const used = attempts as number
  const maxAttempts = attemptsLeft(max_attempts as number, used)
  uses.add('attempts')
  if (priority !== 0) uses.add('priority')
  if (state === 'scheduled') uses.add('run_at')
  if (key !== null) uses.add('job_key')
  if (queue_name !== null) uses.add('queue_name')
  if (flags !== null) uses.add('flags')
  const options = {
    ...{ maxAttempts, timeout: Number.POSITIVE_INFINITY, backoff: backoffAfter(used) },
    ...(priority !== 0 && { priority: priorityOf(-(priority as number)).priority }),
    ...(state === 'scheduled' && { runAt: run_at as Date }),
    ...(key !== null && { unique: { key: key as string, onConflict: 'error' as const } }),
    ...(queue_name !== null && { concurrencyKey: queue_name as string }),
    ...(flags !== null && { tags: Object.keys(flags as object) }),
  }
  return { as: 'job', job: { job: task as string, data, options } }
}

function backoffAfter(used: number) {
  const first = FACTOR ** Math.min(STEPS, used + 1) * SECOND
  return { type: 'exponential' as const, delay: capped(first), factor: FACTOR, maxDelay: capped(FACTOR ** STEPS * SECOND) }
}
