/**
 * Removes deleted queues. They are empty, so only their settings and their statistics are left to remove. And removes lanes that nothing uses
 * and no event of the journal names.
 */
import type { Effects, Queue } from '@millrace/core/kernel'
import { tombstoneOf } from '@millrace/sql'
import type { Database } from '../driver.ts'
import { expectChanges } from './expect.ts'

export interface QueuesGone {
  /** Runs before others may take their names. */
  tombstone(gone: readonly Queue[]): void
  /** Runs after everything that the turn has noted about them is written. */
  forget(effects: Pick<Effects, 'queuesGone' | 'lanesGone'>): void
}

export function prepareQueuesGone(db: Database): QueuesGone {
  const tombstone = db.prepare('UPDATE queue SET name = ? WHERE id = ?')
  const forget = ['queue_settings', 'paused_key', 'pause_end', 'key_bucket', 'finished', 'kept', 'kept_count', 'history'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE queue = ?`),
  )
  const forgetFailures = db.prepare('DELETE FROM failure WHERE lane = ?')
  const forgetLane = db.prepare('DELETE FROM lane WHERE id = ?')
  return {
    tombstone: (gone) => {
      for (const { id, name } of gone) tombstone.run(tombstoneOf(name, id), id)
    },
    forget: ({ queuesGone, lanesGone }) => {
      for (const { id, lanes } of queuesGone) {
        for (const statement of forget) statement.run(id)
        for (const lane of lanes.values()) forgetFailures.run(lane.id)
      }
      for (const { id } of lanesGone) {
        forgetFailures.run(id)
        expectChanges('forget a lane', forgetLane.run(id).changes, 1)
      }
    },
  }
}
