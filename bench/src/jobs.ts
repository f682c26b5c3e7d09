/** The jobs of every scenario: they do nothing, so that what is measured is the queue. */
import { defineJob, type JobRequest } from '@millrace/engine'
import { type Payload, payloadOf } from './payload.ts'

/** Measured. */
export const noop = defineJob<Payload>({ name: 'noop' })
/** The same name, defined as most are that do something. */
export const retried = defineJob<Payload>({ name: noop.name, maxAttempts: 5, timeout: '1m', backoff: { type: 'exponential', delay: '1s' } })
/** Of a backlog that nobody serves. */
export const other = defineJob<Payload>({ name: 'other' })
/** Of schedules, and of what waits beside. */
export const tick = defineJob({ name: 'tick' })

/** So many of those that are measured, from a number on. */
export function requests(first: number, jobs: number): JobRequest[] {
  return Array.from({ length: jobs }, (_, index) => ({ job: noop, data: payloadOf(first + index) }))
}
