/** Puts a waiting job in its place and takes it out: in its lane, or parked behind the gate of its key. */
import type { Job } from '../job.ts'
import { type Gate, isStrict, mayEnter } from '../tables/gate.ts'
import type { TurnContext } from './turn.ts'

/** Lines up a job that has become waiting or has changed its place. This turn writes its row. */
export function enterLine(turn: TurnContext, job: Job): void {
  const { keys } = turn.tables
  const gate = keys.gateFor(job)
  const mayStand = gate === undefined || (!isStrict(gate) && mayEnter(gate, turn.now.mono))
  if (gate === undefined || (mayStand && gate.parked === 0)) {
    standInLine(turn, job)
    return
  }
  turn.tables.park(job, gate)
  noteParked(turn, job, gate)
  // Jobs that were held back before it are let go before it.
  if (mayStand) keys.releasable.add(gate)
}

/** Lets a parked job go: it lines up behind the jobs that wait by now. */
export function letGo(turn: TurnContext, job: Job): void {
  const { tables, effects, now } = turn
  effects.noteGate(job.parked as Gate)
  tables.unpark(job)
  job.runAt = Math.max(job.runAt, now.wall)
  effects.touch(job)
}

export function standInLine({ tables }: TurnContext, job: Job): void {
  if (job.data === undefined) tables.lineFromDisk(job)
  else tables.line(job)
}

/** Takes a waiting job out of its place. Any other job is left as it is. */
export function leaveLine({ tables, effects }: TurnContext, job: Job): void {
  const { parked } = job
  if (parked === undefined) {
    tables.unline(job)
    return
  }
  tables.unpark(job)
  effects.noteGate(parked)
}

/** Parks a job that is in its lane's window and has to wait for its key. */
export function shelve(turn: TurnContext, job: Job, gate: Gate): void {
  turn.tables.shelve(job, gate)
  noteParked(turn, job, gate)
}

function noteParked({ tables, effects, facts, now }: TurnContext, job: Job, gate: Gate): void {
  if (isStrict(gate)) tables.keys.turns.add(gate.key)
  else tables.keys.awaitToken(gate.key, now.mono, gate.lined + gate.outside + 1)
  effects.touch(job)
  effects.noteGate(gate)
  // The job has left the tables, but this is still the turn's one record of it.
  facts.add(job)
}
