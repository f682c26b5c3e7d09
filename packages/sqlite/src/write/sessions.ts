/** Worker sessions that attached, and the defaults that their handlers' definitions set. */
import type { Effects } from '@millrace/core'
import type { Database } from '../driver.ts'

export function prepareSessions(db: Database): (effects: Effects, at: number) => void {
  const session = db.prepare(
    'INSERT INTO session (id, uuid, worker, host, pid, attached_at, remote) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET remote = excluded.remote',
  )
  const definition = db.prepare('INSERT OR REPLACE INTO definition (name, defaults) VALUES (?, ?)')
  return ({ newSessions, definitions }, at) => {
    for (const { id, intro } of newSessions) session.run(id, intro.uuid, intro.worker, intro.host, intro.pid, at, intro.local ? 0 : 1)
    // JSON has no Infinity: in a timeout null stands for it.
    for (const { name, defaults } of definitions) definition.run(name, JSON.stringify(defaults))
  }
}
