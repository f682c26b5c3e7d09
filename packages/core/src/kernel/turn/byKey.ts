/** Finds the job that a key stands for, and does to it what is asked, in one turn. */
import type { Decision } from '../../decision.ts'
import type { JobKey } from '../../id.ts'
import type { ByKeyCommand, HeldKey } from '../../keyCommands.ts'
import { cancelTree, retryTree } from '../flows/tree.ts'
import { cancel } from '../jobs/cancel.ts'
import { deleteJob } from '../jobs/delete.ts'
import { retry } from '../jobs/retry.ts'
import { runNow } from '../jobs/runNow.ts'
import { update } from '../jobs/update.ts'
import { noHolder } from '../state/refuse.ts'
import type { TurnContext } from '../state/turnContext.ts'

export function byKey(turn: TurnContext, { of, call, changes = {}, from, reason, by }: ByKeyCommand): Decision<'byKey'> {
  const id = turn.facts.holder(of)
  if (call === 'release') return id !== undefined && release(turn, of, id)
  if (id === undefined) return noHolder(of)
  const said = { ...(reason !== undefined && { reason }), ...(by !== undefined && { by }) }
  switch (call) {
    case 'cancel':
      return cancel(turn, { op: call, id, ...said })
    case 'cancelTree':
      return cancelTree(turn, { op: call, id, ...said })
    case 'retry':
      return retry(turn, { op: call, id, ...(from !== undefined && { from }) })
    case 'retryTree':
      return retryTree(turn, { op: call, id })
    case 'update':
      return update(turn, { op: call, id, changes })
    case 'runNow':
      return runNow(turn, { op: call, id })
    case 'delete':
      return deleteJob(turn, { op: call, id })
  }
}

/** Takes the key from its job. The job continues without it, and may be gone already if the key was to recognize repeats. */
function release(turn: TurnContext, { kind, name, key }: HeldKey, id: JobKey): true {
  const { effects, facts } = turn
  const job = facts.find(id)
  if (kind === 'unique') {
    effects.uniqueFreed.push({ name, key, seq: id.seq })
    facts.freeUnique({ name, key }, id)
    // Idempotency keys of calls that met the job under this one stay with it, and are forgotten with it.
    if (job?.extras === undefined) return true
    const { uniqueKey: _gone, untilStart: _until, ...others } = job.extras
    effects.changeExtras(job, { ...others, released: true })
    return true
  }
  effects.keysForgotten.push({ seq: id.seq, name, own: key, others: false })
  facts.freeIdempotent(name, key)
  if (job?.extras?.idempotencyKey !== key) return true
  const { idempotencyKey: _gone, ...others } = job.extras
  effects.changeExtras(job, others)
  return true
}
