/** Handles sessions that take no more jobs, are asked to stop, end, or vanish without a word. */
import type { DrainCommand, LeaveCommand, StopWorkerCommand } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import { endAborted, endLost } from '../jobs/end.ts'
import { isLiving, type Session } from '../records/session.ts'
import { workerNotFound } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'
import { beginToDrain, disappear } from './presence.ts'

export function drain(turn: TurnContext, command: DrainCommand): Decision<'drain'> {
  const { tables } = turn
  const session = tables.sessions.get(command.session)
  if (session !== undefined) {
    session.draining = true
    tables.weigh(session)
  }
  beginToDrain(turn, command.session)
  return true
}

export function stopWorker(turn: TurnContext, { worker, timeout }: StopWorkerCommand): Decision<'stopWorker'> {
  const sessions = [...turn.tables.sessions.values()].filter((session) => session.intro.worker === worker && isLiving(session))
  if (sessions.length === 0) return workerNotFound(worker)
  for (const session of sessions) stopSession(turn, session, timeout)
  return true
}

/** Stops a session: it gets nothing more from this turn on, whenever it hears of it. */
export function stopSession(turn: TurnContext, session: Session, stopMs: number): void {
  const { tables, effects } = turn
  session.stopMs = stopMs
  session.draining = true
  tables.weigh(session)
  beginToDrain(turn, session.intro.uuid)
  effects.stops.push(session)
}

export function leave(turn: TurnContext, command: LeaveCommand): Decision<'leave'> {
  const { tables } = turn
  const session = tables.sessions.get(command.session)
  // A worker gives back what it has not begun before it leaves.
  // The session may leave after a reload before it attaches again. Its recorded runs are given back all the same.
  const unattached = tables.unattached.get(command.session)
  for (const job of [...(session?.jobs ?? unattached?.jobs ?? [])]) endAborted(turn, job, { interrupted: true })
  if (tables.unattached.delete(command.session)) tables.noteHolder(command.session, unattached?.holder)
  if (session !== undefined) tables.removeSession(session)
  disappear(turn, command.session, 'worker.left', session)
  return true
}

/** Loses a session whose process died, or that did not come back. */
export function loseSession(turn: TurnContext, session: Session): void {
  for (const job of [...session.jobs]) {
    turn.effects.notices.push({ session, job, run: job.run, note: { kind: 'lost' } })
    endLost(turn, job)
  }
  turn.tables.removeSession(session)
  disappear(turn, session.intro.uuid, 'worker.lost', session)
}
