/** Writes worker sessions that attached, which of them are present, and the defaults that their handlers' definitions set. */
import type { Effects } from '@millrace/core/kernel'
import type { Database } from '../driver.ts'
import { expectChanges } from './expect.ts'

export function prepareSessions(db: Database): (effects: Effects, at: number) => void {
  const session = db.prepare(
    'INSERT INTO session (id, uuid, worker, host, pid, attached_at, remote, process) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET remote = excluded.remote, process = excluded.process',
  )
  const presence = db.prepare('UPDATE session SET presence = ? WHERE id = ?')
  const definition = db.prepare(
    'INSERT OR REPLACE INTO definition (name, defaults, session, worker, host, said_at, first_seq, settling) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const forgetDefinition = db.prepare('DELETE FROM definition WHERE name = ?')
  return ({ newSessions, presence: changes, definitions, definitionsGone }, at) => {
    for (const { id, intro } of newSessions)
      session.run(id, intro.uuid, intro.worker, intro.host, intro.pid, at, intro.local ? 0 : 1, intro.process ?? '')
    for (const { id, presence: is } of changes) expectChanges('note a session', presence.run(is, id).changes, 1)
    // JSON has no Infinity: null stands for it in a timeout.
    for (const { name, definition: is, settling } of definitions)
      definition.run(name, JSON.stringify(is.defaults), is.session, is.worker, is.host, is.saidAt, is.firstSeq, settling)
    for (const name of definitionsGone) expectChanges('forget a definition', forgetDefinition.run(name).changes, 1)
  }
}
