/** Tracks the connection that speaks for a run: the one by which its session last attached. */
import type { Job } from '../records/job.ts'
import type { ConnectionId } from '../records/session.ts'
import type { Tables } from './tables.ts'

/** Returns the connection that speaks for a run whose session has yet to attach again; undefined for none. */
export function unattachedHolderOf({ unattached }: Tables, job: Job): ConnectionId | undefined {
  for (const { jobs, holder } of unattached.values()) if (jobs.has(job)) return holder
  return undefined
}

/** Restores the connections, which the store does not have: after a turn that was not written, those from before it apply. */
export function keepHolders(tables: Tables, before: Tables): void {
  const holders = new Map<string, ConnectionId | undefined>()
  for (const sessions of [before.unattached, before.sessions]) for (const [uuid, { holder }] of sessions) holders.set(uuid, holder)
  for (const [uuid, holder] of before.formerHolders) holders.set(uuid, holder)
  for (const sessions of [tables.unattached, tables.sessions]) for (const [uuid, session] of sessions) session.holder = holders.get(uuid)
}

/** Makes a connection speak for its session from now on, even if its attach could not be written. */
export function setHolder({ sessions, unattached }: Tables, uuid: string, connection: ConnectionId): void {
  const session = sessions.get(uuid) ?? unattached.get(uuid)
  if (session !== undefined) session.holder = connection
}

/** Runs when the turn is written: sessions that went with it, or have nothing left to come back for, need no holder. */
export function forgetHolders({ formerHolders, unattached }: Tables): void {
  formerHolders.clear()
  for (const [uuid, { jobs }] of unattached) if (jobs.size === 0) unattached.delete(uuid)
}
