/** A worker's session: where jobs are pushed, and the jobs that it holds. */
import type { Defaults, SessionIntro } from '../../commands.ts'
import type { ConsumerGroup } from './consumerGroup.ts'
import type { Job } from './job.ts'

/** The number that the actor gives to the Port that a session speaks through. */
export type ConnectionId = number

export interface Session {
  /** The row number. */
  readonly id: number
  /** The session introduces itself by it with each attach; `adjust` changes how much it takes. */
  intro: SessionIntro
  /** The defaults that the session states for each name that it serves. */
  readonly defaults: ReadonlyMap<string, Defaults>
  /** Undefined while the session is away. A remote session may come back by another connection. */
  connection: ConnectionId | undefined
  /** The connection by which it last attached, open or not. Only this one speaks for the session's runs. */
  holder: ConnectionId | undefined
  readonly group: ConsumerGroup
  /** Jobs that it has been handed and has not settled. */
  readonly jobs: Set<Job>
  /** The sum of the jobs' weights. */
  weight: number
  /** The wall time when it last attached; 0 if it is only on record. */
  attachedAt: number
  draining: boolean
  /** The milliseconds that its running jobs have to end, if it was asked to stop. */
  stopMs: number | undefined
  /** True if it is among the sessions that its group may hand jobs to. */
  underfilled: boolean
  zombies: number
  /** The time when a remote session was last heard from; monotonic. */
  renewedMono: number
  /** True if it has lost a job by its silence. It gets no more until it is heard from again. */
  silent: boolean
  /** The time when its next job is lost if it stays silent, maybe too early; monotonic, Infinity for local ones. */
  leaseMono: number
}

/** The record of a session of this process that has yet to attach again. */
export interface Unattached {
  readonly jobs: Set<Job>
  /** The same connection as in Session. */
  holder: ConnectionId | undefined
}

export function newSession(
  id: number,
  intro: SessionIntro,
  connection: ConnectionId | undefined,
  group: ConsumerGroup,
  renewedMono: number,
): Session {
  return {
    id,
    intro,
    defaults: new Map(intro.handlers.map(({ name, defaults }) => [name, defaults])),
    connection,
    holder: connection,
    group,
    jobs: new Set(),
    weight: 0,
    attachedAt: 0,
    draining: false,
    stopMs: undefined,
    underfilled: false,
    zombies: 0,
    renewedMono,
    silent: false,
    leaseMono: Number.POSITIVE_INFINITY,
  }
}

/** True if the session has said what it serves; false if it is only on record. */
export function hasAttached(session: Session | undefined): session is Session {
  return session !== undefined && session.attachedAt > 0
}

/** True while the session is connected and heard from, or still holds jobs. */
export function isLiving({ jobs, connection, silent }: Session): boolean {
  return jobs.size > 0 || (connection !== undefined && !silent)
}

/** True if the session may be handed jobs, as far as it has room. */
export function takesJobs({ draining, silent, connection, intro }: Session): boolean {
  return !draining && !silent && connection !== undefined && intro.paused !== true
}

/** True if the job fits into the session's room. A job heavier than the maximum runs alone. */
export function fits(job: Pick<Job, 'weight'>, session: Session): boolean {
  return session.weight === 0 || session.weight + job.weight <= session.intro.maxConcurrency
}
