/** The context that every decision of one turn receives. */
import type { Now, Random } from '../clock.ts'
import type { QueueDefaults } from '../queueSettings.ts'
import type { Refusal } from '../refusal.ts'
import type { Retention } from '../retention.ts'
import type { Calendar } from '../schedule.ts'
import type { Effects } from './effects.ts'
import type { Facts } from './facts.ts'
import type { ConnectionId } from './sessions/session.ts'
import type { Tables } from './tables.ts'

export interface TurnContext {
  readonly tables: Tables
  readonly facts: Facts
  readonly effects: Effects
  readonly now: Now
  /** All mail that had arrived by then is decided. Silence and deadlines are judged by this time, which is not after `now`. */
  readonly heardMono: number
  readonly random: Random
  readonly settings: Settings
  /** The reason why new work is refused at present; undefined if it is not. */
  readonly refusing: Refusal | undefined
}

export interface Settings {
  /** The time at which a lost worker's jobs run again: at once, or after their backoff. */
  readonly recovery: 'immediate' | 'backoff'
  readonly retention: Retention
  /** Defaults for jobs of all queues, beneath the defaults of each. Default none. */
  readonly defaults?: QueueDefaults | undefined
  /** The limit of data, output and checkpoint each, from any sender. Default 16 MiB, which is the limit of one command. */
  readonly maxDataBytes?: number
  /** The maximum number of queues; one more is refused. Default 10,000. */
  readonly maxQueues?: number
  /** The maximum number of job names; one more is refused. Default `LIMITS.names`. Tests need fewer. */
  readonly maxNames?: number
  /** Reads the cron expressions of schedules. */
  readonly calendar: Calendar
}

/** The sender of a command. */
export interface Sender {
  readonly connection: ConnectionId
  readonly request: number
  /** True if the connection is closed: what it sent counts, but nobody receives the answer. */
  readonly gone?: boolean | undefined
}
