/** Removes deleted queues. They are empty, so only their settings and their statistics are left to remove. */
import type { Queue } from '@millrace/core/kernel'
import { tombstoneOf } from '../deletedQueues.ts'
import type { Database } from '../driver.ts'

export interface QueuesGone {
  /** Runs before others may take their names. */
  tombstone(gone: readonly Queue[]): void
  /** Runs after everything that the turn has noted about them is written. */
  forget(gone: readonly Queue[]): void
}

export function prepareQueuesGone(db: Database): QueuesGone {
  const tombstone = db.prepare('UPDATE queue SET name = ? WHERE id = ?')
  const forget = ['queue_settings', 'paused_key', 'pause_end', 'key_bucket', 'finished', 'kept', 'kept_count', 'history'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE queue = ?`),
  )
  const forgetFailures = db.prepare('DELETE FROM failure WHERE lane = ?')
  return {
    tombstone: (gone) => {
      for (const { id, name } of gone) tombstone.run(tombstoneOf(name, id), id)
    },
    forget: (gone) => {
      for (const { id, lanes } of gone) {
        for (const statement of forget) statement.run(id)
        for (const lane of lanes.values()) forgetFailures.run(lane.id)
      }
    },
  }
}
