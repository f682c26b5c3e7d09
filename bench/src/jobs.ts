/** The jobs of every scenario: they do nothing, so that what is measured is the queue. */
import { defineJob } from '@millrace/engine'
import type { Payload } from './payload.ts'

/** Measured. */
export const noop = defineJob<Payload>({ name: 'noop' })
/** Of a backlog that nobody serves. */
export const other = defineJob<Payload>({ name: 'other' })
/** Of schedules. */
export const tick = defineJob({ name: 'tick' })
