/** What every decision of one turn is given. */
import type { Now, Random } from '../clock.ts'
import type { Effects } from '../effects.ts'
import type { Refusal } from '../errors.ts'
import type { QueueDefaults } from '../queueSettings.ts'
import type { Retention } from '../retention.ts'
import type { Calendar } from '../schedule.ts'
import type { ConnectionId } from '../tables/session.ts'
import type { Tables } from '../tables/tables.ts'
import type { Facts } from './facts.ts'

export interface TurnContext {
  readonly tables: Tables
  readonly facts: Facts
  readonly effects: Effects
  readonly now: Now
  /** Whatever had arrived by then is decided: who has been silent, and whose time is up, is judged by it. Not after `now`. */
  readonly heardMono: number
  readonly random: Random
  readonly settings: Settings
  /** Why new work is refused just now; undefined where it is not. */
  readonly refusing: Refusal | undefined
}

export interface Settings {
  /** What happens to a lost worker's jobs: run again at once, or after their backoff. */
  readonly recovery: 'immediate' | 'backoff'
  readonly retention: Retention
  /** For jobs of all queues, beneath the defaults of each. Default none. */
  readonly defaults?: QueueDefaults | undefined
  /** Of data, output and checkpoint each, whoever sends them. Default 16 MiB, which is what one command may have. */
  readonly maxDataBytes?: number
  /** A queue beyond so many is refused. Default 10,000. */
  readonly maxQueues?: number
  /** Reads the cron expressions of schedules. */
  readonly calendar: Calendar
}

/** Who asks. */
export interface Sender {
  readonly connection: ConnectionId
  readonly request: number
  /** The connection is no more: what was sent by it counts, and nobody hears of the answer. */
  readonly gone?: boolean | undefined
}
