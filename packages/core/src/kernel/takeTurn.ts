/**
 * Takes one turn: commands are decided first, then what time alone causes, then what free capacity causes. One transaction stores
 * all of it. The caller answers no request before `takeTurn` has returned. If it throws, the caller discards the tables.
 */

import type { Clock, Now, Random } from '../clock.ts'
import type { Decision } from '../decision.ts'
import type { Operation } from '../operations.ts'
import type { Request } from '../port.ts'
import type { Refusal } from '../refusal.ts'
import type { Retention } from '../retention.ts'
import { decide } from './decide.ts'
import { dispatch } from './dispatch.ts'
import { Effects } from './effects.ts'
import type { Facts } from './facts.ts'
import { fireTimers } from './fireTimers.ts'
import { propagate } from './flows/propagate.ts'
import { gather } from './gather.ts'
import type { ConnectionId } from './sessions/session.ts'
import type { TurnStore } from './store.ts'
import type { Tables } from './tables.ts'
import type { Settings } from './turn.ts'

/** A request and the connection that it came by. */
export interface Envelope {
  readonly connection: ConnectionId
  readonly request: Request
  /** True if the connection is closed: the command counts, but nobody receives the answer. */
  readonly gone?: boolean | undefined
}

/** The parts that all turns of an engine share. */
export interface TurnParts {
  readonly store: TurnStore
  /** The clock that times the transaction. */
  readonly clock: Pick<Clock, 'read'>
  readonly random: Random
  readonly settings: Settings
  readonly upkeep: Upkeep
  readonly meter?: TurnMeter
}

/** Decides when a turn also removes old data. */
export interface Upkeep {
  /** Returns the retention that this turn prunes by, or undefined if it is not yet time. */
  pruning(now: Now): Retention | undefined
  /** Runs once everything else is decided, and adds to the effects what the turn forgets. */
  note(facts: Facts, effects: Effects, store: TurnStore, tables: Tables, now: Now): void
}

/** Receives each turn that wrote something: its effects, the number of its commands, and the transaction's duration in ms. */
export interface TurnMeter {
  committed(effects: Effects, commands: number, ms: number, now: Now): void
}

export interface TurnInput {
  readonly tables: Tables
  readonly mail: readonly Envelope[]
  readonly now: Now
  /** The same time as in TurnContext. */
  readonly heardMono: number
  /** The reason why new work is refused; undefined while it is accepted. */
  readonly refusing: Refusal | undefined
}

export interface Decided {
  /** One decision per envelope, in order. */
  readonly decisions: readonly Decision<Operation>[]
  readonly effects: Effects
  /** The turn's time: later than the time at which it began if it was decided again. */
  readonly now: Now
}

/** Takes one turn. Throws StoreFailure, and any error that a decision throws. */
export function takeTurn(parts: TurnParts, { tables, mail, now, heardMono, refusing }: TurnInput): Decided {
  const { store, random, settings, upkeep } = parts
  const requests = mail.map((envelope) => envelope.request)
  const facts = gather(store, tables, requests, now, upkeep.pruning(now))
  const effects = new Effects(now.wall)
  const turn = { tables, facts, effects, now, heardMono, random, settings, refusing }
  propagate(turn)
  const decisions = mail.map(({ connection, request, gone }) => decide(turn, request.command, { connection, request: request.id, gone }))
  fireTimers(turn)
  dispatch(turn)
  upkeep.note(facts, effects, store, tables, now)
  if (!effects.empty) write(parts, tables, effects, mail.length, now)
  // Nothing is read between the commit and its answers: a failed read would deny what has happened.
  effects.clear()
  return { decisions, effects, now }
}

function write({ store, clock, meter }: TurnParts, tables: Tables, effects: Effects, commands: number, now: Now): void {
  tables.nextEvent += effects.events.length
  const { nextSeq, nextEvent, nextSession } = tables
  // The store writes the same with what it writes of these lanes.
  for (const lanes of [effects.newLanes, effects.countedLanes])
    for (const lane of lanes) {
      lane.usedAt = now.wall
      lane.usedEvent = nextEvent
    }
  const startMono = clock.read().mono
  const running = () => tables.running().map((job) => job.seq)
  store.write(effects, { at: now.wall, mono: now.mono, nextSeq, nextEvent, nextSession, running })
  meter?.committed(effects, commands, clock.read().mono - startMono, now)
}
