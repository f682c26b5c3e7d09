/** A worker's session: where jobs are pushed, and what it holds of them. */
import type { Defaults, SessionIntro } from '../commands.ts'
import type { Job } from '../job.ts'
import type { Service } from './service.ts'

/** The Port that a session speaks through, as the actor numbers them. */
export type ConnectionId = number

export interface Session {
  /** Row number. */
  readonly id: number
  readonly intro: SessionIntro
  /** What it says of each name that it serves. */
  readonly defaults: ReadonlyMap<string, Defaults>
  /** Undefined while it is away: a remote session may come back by another one. */
  connection: ConnectionId | undefined
  /** The connection by which it last attached, there still or not: it alone speaks for the session's runs. */
  holder: ConnectionId | undefined
  readonly service: Service
  /** What it has been handed and has not settled. */
  readonly jobs: Set<Job>
  /** The sum of their weights. */
  weight: number
  /** By the wall clock, when it last attached; 0 where it is on record alone. */
  attachedAt: number
  draining: boolean
  /** It has been told to stop, with so many ms for what runs. */
  stopMs: number | undefined
  /** Whether it stands among those that its service may hand jobs to. */
  hungry: boolean
  zombies: number
  /** When a remote session was last heard to live; monotonic. */
  renewedMono: number
  /** Has lost a job by its silence: it gets no more until it is heard again. */
  silent: boolean
  /** When the next of its jobs is lost if it stays silent, maybe too early; monotonic, Infinity for local ones. */
  leaseMono: number
}

/** What is on record for a session of this process that has yet to attach again. */
export interface Unattached {
  readonly jobs: Set<Job>
  /** As of a session. */
  holder: ConnectionId | undefined
}

export function newSession(
  id: number,
  intro: SessionIntro,
  connection: ConnectionId | undefined,
  service: Service,
  renewedMono: number,
): Session {
  return {
    id,
    intro,
    defaults: new Map(intro.handlers.map(({ name, defaults }) => [name, defaults])),
    connection,
    holder: connection,
    service,
    jobs: new Set(),
    weight: 0,
    attachedAt: 0,
    draining: false,
    stopMs: undefined,
    hungry: false,
    zombies: 0,
    renewedMono,
    silent: false,
    leaseMono: Number.POSITIVE_INFINITY,
  }
}

/** Whether it has said what it serves: not one that is on record alone. */
export function hasAttached(session: Session | undefined): session is Session {
  return session !== undefined && session.attachedAt > 0
}

/** Whether anybody is behind it, as far as is known: of those that are neither there nor hold a job, no one hears. */
export function isLiving({ jobs, connection, silent }: Session): boolean {
  return jobs.size > 0 || (connection !== undefined && !silent)
}
