/** Writes worker sessions that attached, which of them are present, and the defaults that their handlers' definitions set. */
import type { Effects } from '@millrace/core/kernel'
import type { Batch } from './batch.ts'

const SESSION = `INSERT INTO session (id, uuid, worker, host, pid, attached_at, remote, process) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (id) DO UPDATE SET remote = excluded.remote, process = excluded.process`
const PRESENCE = 'UPDATE session SET presence = $1 WHERE id = $2'
const DEFINED = ['defaults', 'session', 'worker', 'host', 'said_at', 'first_seq', 'settling']
const DEFINITION = `INSERT INTO definition (name, ${DEFINED.join(', ')}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (name) DO UPDATE SET ${DEFINED.map((name) => `${name} = excluded.${name}`).join(', ')}`
const FORGET_DEFINITIONS = 'DELETE FROM definition WHERE name = ANY ($1::text[])'

export function writeSessions(batch: Batch, { newSessions, presence, definitions, definitionsGone }: Effects, at: number): void {
  for (const { id, intro } of newSessions)
    batch.add(SESSION, id, intro.uuid, intro.worker, intro.host, intro.pid, at, intro.local ? 0 : 1, intro.process ?? '')
  for (const { id, presence: is } of presence) batch.change('note a session', 1, PRESENCE, is, id)
  // JSON has no Infinity: null stands for it in a timeout.
  for (const { name, definition: is, settling } of definitions)
    batch.add(DEFINITION, name, JSON.stringify(is.defaults), is.session, is.worker, is.host, is.saidAt, is.firstSeq, settling)
  if (definitionsGone.length > 0) batch.change('forget definitions', definitionsGone.length, FORGET_DEFINITIONS, [...definitionsGone])
}
