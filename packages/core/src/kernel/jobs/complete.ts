/** Completes a run. Jobs that its handler enqueued are created in the same commit. */
import type { CompleteCommand, RunKey } from '../../commands.ts'
import type { Decision } from '../../decision.ts'
import type { Data } from '../../job.ts'
import { COMPLETED } from '../../lifecycle.ts'
import { stale } from '../state/refuse.ts'
import type { Sender, TurnContext } from '../state/turnContext.ts'
import { endAborted, endCompleted, runOf } from './end.ts'
import { createAll, findRefusal } from './enqueue.ts'
import { forgetZombie } from './zombies.ts'

export function complete(turn: TurnContext, command: CompleteCommand, sender: Sender): Decision<'complete'> {
  const job = runOf(turn, command, sender)
  if (job === undefined) return repeated(turn, command) || staleRun(turn, command, sender)
  if (job.abort === 'timeout') {
    endAborted(turn, job)
    return staleRun(turn, command, sender)
  }
  if (job.abort === 'cancel' || job.cancelRequested) {
    endAborted(turn, job)
    return true
  }
  if (command.enqueues !== undefined) {
    const refused = findRefusal(turn, command.enqueues, job)
    if (refused !== undefined) return refused
  }
  endCompleted(turn, job, command.output)
  if (command.enqueues !== undefined) createAll(turn, command.enqueues)
  return true
}

/** True if the same completion is repeated because its answer was lost: maybe by another connection, but with the same output. */
function repeated(turn: TurnContext, { seq, run, output }: CompleteCommand): boolean {
  const job = turn.facts.job(seq)
  return job !== undefined && job.state === COMPLETED && job.run === run && sameData(job.output, output)
}

function sameData(one: Data | undefined, other: Data): boolean {
  if (!(one instanceof Uint8Array && other instanceof Uint8Array)) return one === other
  return one.length === other.length && one.every((byte, index) => byte === other[index])
}

export function staleRun(turn: TurnContext, { seq, run }: RunKey, { connection }: Sender): ReturnType<typeof stale> {
  forgetZombie(turn.tables, seq, run, connection)
  return stale(seq, run)
}
