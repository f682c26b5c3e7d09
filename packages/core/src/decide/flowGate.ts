/** The gate of a job that waits for others. */
import { type CLOSED, type FlowGate, OPEN, type SHUT } from '../flow.ts'
import type { Job } from '../job.ts'
import { SCHEDULED, WAITING } from '../lifecycle.ts'
import { enterLine } from './line.ts'
import type { TurnContext } from './turn.ts'

/** The one place where such a job is let through. Its `delay` counts from here. */
export function open(turn: TurnContext, job: Job, gate: FlowGate): void {
  const { tables, effects, now } = turn
  setGate(turn, gate, OPEN)
  job.runAt = Math.max(job.runAt, now.wall + (job.extras?.flow?.delay ?? 0))
  const later = job.runAt > now.wall
  effects.move(job, 'release', later ? SCHEDULED : WAITING)
  effects.event('released', job, later ? job.runAt : undefined)
  if (later) tables.noteDue(job.runAt)
  else enterLine(turn, job)
}

export function setGate({ effects }: TurnContext, gate: FlowGate, state: typeof CLOSED | typeof OPEN | typeof SHUT): void {
  gate.state = state
  effects.flows.changed.add(gate)
}
