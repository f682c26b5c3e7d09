/** Renews sessions of other processes, and loses those that are silent for too long. */
import type { RenewCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import { LIMITS } from '../../limits.ts'
import { endLost } from '../jobs/end.ts'
import { leaseEndMono } from '../jobs/lease.ts'
import type { Session } from '../records/session.ts'
import type { Sender, TurnContext } from '../state/turnContext.ts'
import { loseSession } from './leave.ts'
import { lapsePresent } from './presence.ts'

/** Renews all sessions of the sender. */
export function renew({ tables, now }: TurnContext, { renewal, vitals }: RenewCommand, { connection, gone }: Sender): Decision<'renew'> {
  if (gone === true) return true
  tables.renewals.set(connection, renewal)
  if (vitals !== undefined) tables.vitals.set(connection, vitals)
  for (const session of tables.sessions.values()) {
    if (session.connection !== connection || session.intro.local) continue
    session.renewedMono = now.mono
    if (!session.silent) continue
    session.silent = false
    tables.weigh(session)
  }
  return true
}

/** Handles leases that have run out. */
export function lapse(turn: TurnContext): void {
  const { tables, heardMono } = turn
  tables.leaseMono = Number.POSITIVE_INFINITY
  for (const session of [...tables.sessions.values()]) {
    if (session.leaseMono > heardMono) tables.setLease(session, session.leaseMono)
    else if (session.leaseMono === Number.NEGATIVE_INFINITY) loseSession(turn, session)
    else loseSilent(turn, session)
  }
  lapsePresent(turn)
}

/** Loses each job at the end of its own lease. A session that is away for long and holds nothing is forgotten. */
function loseSilent(turn: TurnContext, session: Session): void {
  const { tables, heardMono, effects } = turn
  let nextMono = Number.POSITIVE_INFINITY
  for (const job of [...session.jobs]) {
    const endMono = leaseEndMono(session, job)
    if (endMono > heardMono) nextMono = Math.min(nextMono, endMono)
    else {
      session.silent = true
      effects.notices.push({ session, job, run: job.run, note: { kind: 'lost' } })
      endLost(turn, job)
    }
  }
  // A job that the session still holds may have a longer lease than that.
  if (session.connection === undefined && session.jobs.size === 0) nextMono = session.renewedMono + LIMITS.leaseMs
  if (nextMono <= heardMono) loseSession(turn, session)
  else {
    tables.weigh(session)
    tables.setLease(session, nextMono)
  }
}
