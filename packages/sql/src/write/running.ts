/** Notes of which jobs run. */
import { type Effects, StoreFailure, type TurnHeader } from '@millrace/core/kernel'

/**
 * A turn's row holds the next numbers: without it, opening the store would give out the old ones again.
 *
 * @throws StoreFailure if a turn forgets its own events
 */
export function assertTurnIsKept(
  { nextEvent }: TurnHeader,
  { events, forgetEventsBefore }: Pick<Effects, 'events' | 'forgetEventsBefore'>,
): void {
  if (forgetEventsBefore < nextEvent - events.length) return
  throw new StoreFailure('broken', 'statement', `the journal cannot forget up to event ${forgetEventsBefore}: the turn has written it`)
}
