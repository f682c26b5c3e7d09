/** The run ended well; what its handler enqueued is created in the same commit. */
import type { CompleteCommand, RunKey } from '../commands.ts'
import { COMPLETED } from '../lifecycle.ts'
import type { Decision } from '../replies.ts'
import { endAborted, endCompleted, runOf } from './end.ts'
import { createAll, findRefusal } from './enqueue.ts'
import { stale } from './refuse.ts'
import type { TurnContext } from './turn.ts'
import { forgetZombie } from './zombies.ts'

export function complete(turn: TurnContext, command: CompleteCommand): Decision<'complete'> {
  const job = runOf(turn, command)
  if (job === undefined) return repeated(turn, command) || staleRun(turn, command)
  if (job.abort === 'timeout') {
    endAborted(turn, job)
    return staleRun(turn, command)
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

/** The same completion told twice, after an answer that was lost. */
function repeated(turn: TurnContext, { seq, run }: RunKey): boolean {
  const job = turn.facts.job(seq)
  return job !== undefined && job.state === COMPLETED && job.run === run
}

export function staleRun(turn: TurnContext, { seq, run }: RunKey): ReturnType<typeof stale> {
  forgetZombie(turn.tables, seq, run)
  return stale(seq, run)
}
