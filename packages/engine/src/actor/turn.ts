/**
 * One turn. What has arrived is decided, then what time alone makes happen, then what capacity makes happen; all of it is written
 * in one transaction. Whoever calls answers nobody before this has returned, and where it throws, throws the tables away.
 */
import {
  type Clock,
  type ConnectionId,
  type Decision,
  decide,
  dispatch,
  Effects,
  elapse,
  gather,
  type Now,
  type Operation,
  type Random,
  type Refusal,
  type Request,
  type Settings,
  type Store,
  type Tables,
  tellChildren,
} from '@millrace/core'
import type { Housekeeping } from './housekeeping.ts'
import type { Meter } from './meter.ts'

/** A request with the connection that it came by. */
export interface Sent {
  readonly connection: ConnectionId
  readonly request: Request
}

/** One that a turn has to decide. */
export interface Letter extends Sent {
  /** When it came, on the engine's clock. */
  readonly atMono: number
  readonly gone?: boolean | undefined
}

export interface TurnParts {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly settings: Settings
  readonly housekeeping: Housekeeping
  readonly meter: Meter
}

export interface Decided {
  /** One per letter, in order. */
  readonly decisions: readonly Decision<Operation>[]
  readonly effects: Effects
  /** Its time: later than when the turn began, where it was decided again. */
  readonly now: Now
}

export function takeTurn(
  parts: TurnParts,
  tables: Tables,
  mail: readonly Letter[],
  now: Now,
  heardMono: number,
  refusing: Refusal | undefined,
): Decided {
  const { store, random, settings, housekeeping } = parts
  const requests = mail.map((letter) => letter.request)
  const facts = gather(store, tables, requests, now, housekeeping.pruning(now))
  const effects = new Effects(now.wall)
  const turn = { tables, facts, effects, now, heardMono, random, settings, refusing }
  tellChildren(turn)
  const decisions = mail.map(({ connection, request, gone }) => decide(turn, request.command, { connection, request: request.id, gone }))
  elapse(turn)
  dispatch(turn)
  housekeeping.note(facts, effects, store, tables, now)
  if (!effects.empty) write(parts, tables, effects, mail.length, now)
  // Nothing is read between the commit and its answers: a read that fails would deny what has happened.
  effects.clear()
  return { decisions, effects, now }
}

function write({ store, clock, meter }: TurnParts, tables: Tables, effects: Effects, commands: number, now: Now): void {
  tables.nextEvent += effects.events.length
  const { nextSeq, nextEvent, nextSession } = tables
  const startMono = clock.read().mono
  store.write(effects, {
    at: now.wall,
    nextSeq,
    nextEvent,
    nextSession,
    mono: now.mono,
    running: () => tables.running().map((job) => job.seq),
  })
  meter.commit(commands, clock.read().mono - startMono)
  meter.timings.note(effects, now.wall)
}
