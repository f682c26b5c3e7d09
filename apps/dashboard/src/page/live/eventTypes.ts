/** The types of events, in the groups that the filter offers. */
import type { EventAnswer } from '@millrace/http'

type Type = EventAnswer['type']

export const GROUPS = {
  jobs: [
    ...(['enqueued', 'started', 'progress', 'retrying', 'completed', 'failed', 'cancelled'] as const),
    ...(['snoozed', 'stalled', 'released', 'updated', 'promoted', 'deleted', 'deduplicated'] as const),
  ],
  queues: ['queue.configured', 'queue.paused', 'queue.resumed', 'queue.draining', 'queue.drained', 'queue.empty', 'queue.deleted'],
  schedules: [
    ...(['schedule.upserted', 'schedule.paused', 'schedule.resumed', 'schedule.fired', 'schedule.triggered'] as const),
    ...(['schedule.skipped', 'schedule.ended', 'schedule.deleted'] as const),
  ],
  workers: ['worker.attached', 'worker.draining', 'worker.left', 'worker.lost', 'worker.disputed'],
  engine: ['engine.paused', 'engine.resumed'],
} as const satisfies Readonly<Record<string, readonly Type[]>>

export const TYPES: readonly string[] = Object.values(GROUPS).flat()
