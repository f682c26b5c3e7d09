/** A worker's session: where jobs are pushed, and what it holds of them. */
import type { SessionIntro } from '../commands.ts'
import type { Job } from '../job.ts'
import type { Service } from './service.ts'

/** The Port that a session speaks through, as the actor numbers them. */
export type ConnectionId = number

export interface Session {
  /** Row number. */
  readonly id: number
  readonly intro: SessionIntro
  readonly connection: ConnectionId
  readonly service: Service
  /** What it has been handed and has not settled. */
  readonly jobs: Set<Job>
  /** The sum of their weights. */
  weight: number
  draining: boolean
  /** Whether it stands among those that its service may hand jobs to. */
  hungry: boolean
  zombies: number
  /** When a silent remote session loses what it holds; monotonic, Infinity for local ones. */
  leaseMono: number
}
