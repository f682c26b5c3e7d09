/** Tracks runs that ignored their abort for the whole grace period. They are fenced, and counted until they are heard of again. */
import { broken } from '../records/broken.ts'
import type { Job } from '../records/job.ts'
import type { ConnectionId } from '../records/session.ts'
import type { Tables } from '../state/tables.ts'

export function noteZombie(tables: Tables, job: Job): void {
  if (job.session === undefined) return
  job.session.zombies++
  tables.zombies.set(`${job.seq}:${job.run}`, job.session)
}

/** Forgets a zombie that was heard of by the connection of its session. What other connections send does not count. */
export function forgetZombie(tables: Tables, seq: number, run: number, connection: ConnectionId): void {
  if (tables.zombies.size === 0) return
  const key = `${seq}:${run}`
  const session = tables.zombies.get(key)
  if (session?.holder !== connection) return
  session.zombies--
  if (session.zombies < 0) broken(`session ${session.id} has fewer than no zombies`)
  tables.zombies.delete(key)
}
