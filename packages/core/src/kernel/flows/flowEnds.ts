/** Notes what the end of a job, or of its row, means for its flow: in the same commit. The next turns notify the children. */

import { isFinal } from '../../lifecycle.ts'
import { DELETED, type DueMode, isParent, NOTIFY } from '../records/flowState.ts'
import { DIRTY_COMPLETE, type Job, type JobExtras } from '../records/job.ts'
import type { TurnContext } from '../state/turnContext.ts'

/** Notes that the children must hear of a job that is final, live again, or gone. */
export function notifyLater({ tables, effects }: TurnContext, job: Job, mode: DueMode = NOTIFY): void {
  if (!isParent(job)) return
  effects.flows.note(job, mode)
  tables.flowWork = true
}

/** Keeps what the children of a finished job may still ask for when its row goes. */
export function outlive(
  turn: TurnContext,
  { seq, extras }: { readonly seq: number; readonly extras: JobExtras | undefined },
  job?: Job,
): void {
  const place = extras?.flow
  if (place === undefined) return
  const { flows } = turn.effects
  if (place.children) {
    // A record read for other reasons may lack its output. Unless the job has completed just now, the row has it.
    const known = job !== undefined && job.dirty !== 0 ? job : undefined
    const output = known !== undefined && (known.dirty & DIRTY_COMPLETE) !== 0 ? known.output : null
    flows.ends.push({ seq, ref: place.ref, state: known?.state ?? 0, keep: known === undefined ? 'row' : 'record', output })
  }
  if (place.parents > 0) leave(turn, seq)
}

/** Handles a job that was deleted by a caller: none of its content stays. */
export function vanish(turn: TurnContext, job: Job): void {
  const place = job.extras?.flow
  if (place === undefined) return
  const state = isFinal(job.state) ? job.state : DELETED
  if (place.children) turn.effects.flows.ends.push({ seq: job.seq, ref: place.ref, state, keep: 'state', output: null })
  if (place.parents > 0) leave(turn, job.seq)
  notifyLater(turn, job)
}

function leave({ tables, effects }: TurnContext, seq: number): void {
  effects.flows.gone.push(seq)
  tables.flowWork = true
}
