/** How a waiting job takes its place and leaves it: in its lane, or parked behind the gate of its key. */
import type { Job } from '../job.ts'
import { type Gate, mayLine } from '../tables/gate.ts'
import type { TurnContext } from './turn.ts'

/** A job has become waiting, or has changed its place: its row is written by this turn. */
export function enterLine(turn: TurnContext, job: Job): void {
  const gate = turn.tables.keys.gateOf(job)
  if (gate !== undefined && !mayLine(gate, turn.now.mono)) {
    turn.tables.park(job, gate)
    noteParked(turn, job, gate)
  } else if (job.data === undefined) turn.tables.lineFromDisk(job)
  else turn.tables.line(job)
}

/** A waiting job goes elsewhere. Of any other job there is nothing to do. */
export function leaveLine({ tables, effects }: TurnContext, job: Job): void {
  const { parked } = job
  if (parked === undefined) {
    tables.unline(job)
    return
  }
  tables.unpark(job)
  effects.noteGate(parked)
}

/** A job that is in its lane's window has to wait for its key. */
export function shelve(turn: TurnContext, job: Job, gate: Gate): void {
  turn.tables.shelve(job, gate)
  noteParked(turn, job, gate)
}

function noteParked({ tables, effects, facts, now }: TurnContext, job: Job, gate: Gate): void {
  tables.keys.awaitToken(gate.key, now.mono)
  effects.touch(job)
  effects.noteGate(gate)
  // Out of the tables, it is still this turn's one record of the job.
  facts.add(job)
}
