/**
 * Attaches a session, or attaches it again after a reload, a restart or a lost connection. One exchange handles all cases. A run
 * that the session holds and the engine recorded for it continues. A run that the session holds and no longer owns is reported as
 * lost. A run that was recorded for the session, but not received by it, is given back without using an attempt. So is a run whose job
 * the session no longer serves: its token may serve less by now.
 */
import type { AttachCommand, RunKey } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import { LIMITS } from '../../limits.ts'
import { abortNote } from '../jobs/abort.ts'
import { endGivenBack } from '../jobs/end.ts'
import { beginLease } from '../jobs/lease.ts'
import { refuseDefinitions } from '../queues/newQueues.ts'
import type { Job } from '../records/job.ts'
import { hasAttached, type Session } from '../records/session.ts'
import type { Sender, TurnContext } from '../state/turnContext.ts'
import { beginToDefine, define } from './define.ts'
import { stopSession } from './leave.ts'
import { appear } from './presence.ts'

/** Attaches a session with the runs that it holds, or takes it over from another connection. */
export function attach(turn: TurnContext, command: AttachCommand, { connection, gone }: Sender): Decision<'attach'> {
  const { tables, effects } = turn
  const { session: intro, held } = command
  const tooMany = refuseDefinitions(turn, intro)
  if (tooMany !== undefined) return tooMany
  const before = tables.sessions.get(intro.uuid)
  const mine = recorded(turn, intro.uuid, before)
  const known = tables.present.get(intro.uuid)
  beginToDefine(turn, intro)
  const session = tables.addSession(intro, gone === true ? undefined : connection, turn.now.mono, before?.id ?? known?.id)
  session.holder = connection
  session.attachedAt = turn.now.wall
  // A process that is gone takes its own sessions with it. A remote session may come back by another connection.
  if (session.connection === undefined) tables.setLease(session, intro.local ? Number.NEGATIVE_INFINITY : turn.now.mono + LIMITS.leaseMs)
  // The session's process may have become the engine's own, or stopped being it.
  if (known?.local !== intro.local || known.process !== (intro.process ?? '')) effects.newSessions.push(session)
  appear(turn, session)
  const disputed = define(turn, session, known !== undefined && !hasAttached(before))
  const lost: RunKey[] = []
  for (const { seq, run } of held) {
    const job = tables.jobs.get(seq)
    if (job !== undefined && job.run === run && session.group.serves(job.lane.queue.name, job.lane.name) && mine.delete(job))
      adopt(turn, session, job)
    else lost.push({ seq, run })
  }
  for (const job of mine) {
    // The job may still be on its way to the session. Then it arrives before this notice, and has begun.
    effects.notices.push({ session, job, run: job.run, note: { kind: 'lost' } })
    endGivenBack(turn, job)
  }
  // The session may not have received the stop.
  if (before?.stopMs !== undefined) stopSession(turn, session, before.stopMs)
  tables.weigh(session)
  return { lost, ...(disputed.length > 0 && { disputed }) }
}

/** Returns the runs on record for the session: from before a reload, or of the earlier session with the same uuid. */
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
  // The session may not have received a message's notice, or the abort.
  if (job.extras?.kept !== undefined && job.extras.steps?.waiting !== undefined)
    effects.notices.push({ session, job, run: job.run, note: { kind: 'messaged' } })
  if (job.abort !== undefined) effects.notices.push({ session, job, run: job.run, note: abortNote(job, job.abort) })
}
