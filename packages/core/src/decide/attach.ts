/**
 * A session begins, or names itself again after a reload, a restart or a break. One exchange for all: what it holds and the
 * engine recorded for it goes on; what it holds and is no longer its own is named as lost; what was recorded for it and it
 * had not received is given back without having used an attempt.
 */
import type { AttachCommand, RunKey } from '../commands.ts'
import type { Job } from '../job.ts'
import { LIMITS } from '../limits.ts'
import type { Decision } from '../replies.ts'
import { beginLease } from '../tables/lease.ts'
import { hasAttached, type Session } from '../tables/session.ts'
import { beginToDefine, define } from './define.ts'
import { endGivenBack } from './end.ts'
import { stopSession } from './leave.ts'
import { appear } from './presence.ts'
import type { Sender, TurnContext } from './turn.ts'

export function attach(turn: TurnContext, command: AttachCommand, { connection, gone }: Sender): Decision<'attach'> {
  const { tables, effects } = turn
  const { session: intro, held } = command
  const before = tables.sessions.get(intro.uuid)
  const mine = recorded(turn, intro.uuid, before)
  const known = tables.present.get(intro.uuid)
  beginToDefine(turn, intro)
  const session = tables.addSession(intro, gone === true ? undefined : connection, turn.now.mono, before?.id ?? known?.id)
  session.holder = connection
  session.attachedAt = turn.now.wall
  // A process that is gone takes its own sessions with it; a remote one may come back by another connection.
  if (session.connection === undefined) tables.setLease(session, intro.local ? Number.NEGATIVE_INFINITY : turn.now.mono + LIMITS.leaseMs)
  // Its process may have become the engine's own, or ceased to be it.
  if ((before?.intro.local ?? known?.local) !== intro.local) effects.newSessions.push(session)
  appear(turn, session)
  const disputed = define(turn, session, known !== undefined && !hasAttached(before))
  const lost: RunKey[] = []
  for (const { seq, run } of held) {
    const job = tables.jobs.get(seq)
    if (job !== undefined && job.run === run && mine.delete(job)) adopt(turn, session, job)
    else lost.push({ seq, run })
  }
  for (const job of mine) {
    // It may be on its way, behind what this session had heard when it spoke: then it comes before this notice, and has begun.
    effects.notices.push({ session, job, run: job.run, note: { kind: 'lost' } })
    endGivenBack(turn, job)
  }
  // It may never have heard of it.
  if (before?.stopMs !== undefined) stopSession(turn, session, before.stopMs)
  tables.weigh(session)
  return { lost, ...(disputed.length > 0 && { disputed }) }
}

/** The runs on record for the session: from before a reload, or of the session that this one repeats. */
function recorded({ tables }: TurnContext, uuid: string, before: Session | undefined): Set<Job> {
  if (before !== undefined) {
    const jobs = new Set(before.jobs)
    for (const job of jobs) job.session = undefined
    tables.removeSession(before)
    return jobs
  }
  const unattached = tables.unattached.get(uuid)
  if (unattached === undefined) return new Set()
  tables.unattached.delete(uuid)
  tables.noteHolder(uuid, unattached.holder)
  return unattached.jobs
}

function adopt({ tables, effects }: TurnContext, session: Session, job: Job): void {
  job.session = session
  session.jobs.add(job)
  session.weight += job.weight
  if (!session.intro.local) beginLease(tables, session, job)
  if (job.abort === undefined && job.policy.timeout === Number.POSITIVE_INFINITY) tables.clearDeadline(job)
  // It may never have heard of the abort.
  if (job.abort !== undefined) effects.notices.push({ session, job, run: job.run, note: { kind: 'abort', cause: job.abort } })
}
