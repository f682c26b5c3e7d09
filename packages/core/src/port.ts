/**
 * The narrow waist. Everything that runs jobs or asks about them talks to a Port; everything that keeps jobs stands behind
 * one. Both directions carry arrays; what is in one call was decided, or is to be sent, together.
 */

import type { RunKey } from './commands.ts'
import type { JournalEvent } from './events.ts'
import type { Joined } from './flow.ts'
import type { JobKey } from './id.ts'
import type { AbortCause, Cancellation, Data } from './job.ts'
import type { Command } from './operations.ts'
import type { Refusal } from './refusal.ts'

/** Features that a Port may lack; the conformance suite proves each one that is declared. */
export type Capability = 'work' | 'list' | 'backup' | 'events'

/** A command with its number on this Port: 1, 2, 3 ... */
export interface Request {
  readonly id: number
  readonly command: Command
}

/** One per request. Exactly one of `value` and `refusal` is there. */
export interface Reply {
  readonly id: number
  readonly value?: unknown
  readonly refusal?: Refusal
}

/** A job handed to a session, to be run now. */
export interface Grant extends JobKey {
  /** The session that gets the job. */
  readonly session: string
  readonly name: string
  readonly queue: string
  readonly run: number
  readonly attempt: number
  readonly maxAttempts: number
  readonly priority: number
  readonly weight: number
  readonly runAt: number
  readonly timeout: number
  readonly heartbeatTimeout: number
  readonly data: Data
  readonly checkpoint: Data
  readonly tags: readonly string[] | undefined
  /** JSON text. */
  readonly meta: string | undefined
  readonly concurrencyKey?: string | undefined
  readonly idempotencyKey?: string | undefined
  /** The groups of jobs that earlier runs of the job have joined, in order. */
  readonly joined?: readonly Joined[] | undefined
  /** The log lines that the run keeps; undefined for `LIMITS.logLinesPerRun`. */
  readonly logLines?: number | undefined
}

/** The engine's notices to a session about its runs. */
export type Notice =
  /** Abort the run's signal and settle it; past the grace the engine ends it by itself. */
  | ({ readonly kind: 'abort'; readonly session: string; readonly cause: AbortCause } & RunKey & Cancellation)
  /** The run is no longer the session's own: nothing that it says about it counts. */
  | ({ readonly kind: 'lost'; readonly session: string } & RunKey)
  /** A message that the run waits for has come: it asks for it again. */
  | ({ readonly kind: 'messaged'; readonly session: string } & RunKey)
  /** Stop, as the worker's own `stop` does: what runs has `timeout` ms; Infinity for as long as it takes. */
  | { readonly kind: 'stop'; readonly session: string; readonly timeout: number }
  /** Events from one number to another were not told: this Port was not read fast enough. Those before this delivery's events. */
  | { readonly kind: 'gap'; readonly first: number; readonly last: number }
  /** The engine has loaded its tables anew: every session of this Port attaches again. */
  | { readonly kind: 'reattach' }

/** All that one turn has for one Port: replies first, in the order that `commands.ts` promises. */
export interface Delivery {
  readonly replies: readonly Reply[]
  readonly grants: readonly Grant[]
  readonly notices: readonly Notice[]
  readonly events: readonly JournalEvent[]
  /** The last `renew` of this Port that was counted when this was decided; 0 before the first. */
  readonly renewal: number
}

/** Why a Port ended; undefined where it was closed on purpose. */
export interface PortListener {
  deliver(delivery: Delivery): void
  /** The other side is gone: what is unanswered stays so. `reopened` follows where the Port comes back by itself. */
  broken(refusal: Refusal): void
  /** Back after `broken`: sessions attach again, and then everything is as before. */
  reopened(): void
  /** Nothing that was sent has been counted for so long: runs with a lease of `ms` or less may be another's by now, and end here. */
  lapsed(ms: number): void
  /** Gone for good. */
  ended(refusal: Refusal): void
}

export interface Port {
  readonly capabilities: ReadonlySet<Capability>
  /** The largest data, output and checkpoint that the engine stores; undefined if this end does not know it. */
  readonly maxDataBytes?: number | undefined
  /** Names who hears of replies, grants and notices: once, before the first send. */
  listen(listener: PortListener): void
  /** Sends in order. Never throws for what the far side may refuse. */
  send(requests: readonly Request[]): void
  /** Sets whether this Port keeps its process alive: it does while calls are open or workers are attached. */
  hold(alive: boolean): void
  /** True while the engine behind it is in another process, which may never answer again. */
  readonly distant?: boolean
  /**
   * Ends the Port; what stands behind an embedded engine's own Port ends with it. The other end of a distant one is waited for no longer
   * than `withinMs`.
   */
  close(withinMs?: number): Promise<void>
}
