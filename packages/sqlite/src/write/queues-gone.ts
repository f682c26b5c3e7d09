/** Queues that are deleted: empty, so that nothing but what they were told is to be removed. */
import type { Queue } from '@millrace/core'
import type { Database } from '../driver.ts'
import { tombOf } from '../tombs.ts'

export function prepareQueuesGone(db: Database): (gone: readonly Queue[]) => void {
  const forget = ['queue_settings', 'paused_key', 'finished'].map((table) => db.prepare(`DELETE FROM ${table} WHERE queue = ?`))
  const bury = db.prepare('UPDATE queue SET name = ? WHERE id = ?')
  return (gone) => {
    for (const { id, name } of gone) {
      for (const statement of forget) statement.run(id)
      bury.run(tombOf(name, id), id)
    }
  }
}
