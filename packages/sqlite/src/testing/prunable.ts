/** Asks for the old jobs of one queue and state. */
import type { StateCode } from '@millrace/core'
import type { Prunable, TurnReads } from '@millrace/core/kernel'

type Of = Pick<TurnReads, 'prunable'>

/** Returns undefined if there are no more. */
export function prunableOf(
  store: Of,
  queueId: number,
  state: StateCode,
  before: number,
  limit: number,
  lastEvent?: number,
): Prunable | undefined {
  return store.prunable([{ queueId, state, before, limit, lastEvent }], limit)[0]
}
