/** Transactional enqueue: jobs in the app's own database transaction. */
export type { Connection } from './connection.ts'
export { Outbox, type OutboxJob, type OutboxOptions, outbox, type RefusedJob } from './outbox.ts'
export { type EnqueueQuery, enqueueBySql } from './query.ts'
export { outboxSchema } from './table.ts'
