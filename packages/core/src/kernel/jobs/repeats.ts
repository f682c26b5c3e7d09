/**
 * Tells of calls that an earlier job answers, if the queue that the call names asks for that. Otherwise a call that changes nothing
 * writes nothing, and its turn needs no commit.
 */
import type { NewJob } from '../../commands.ts'
import type { JobKey } from '../../id.ts'
import { queueOf } from '../queues/queueOf.ts'
import type { Tables } from '../state/tables.ts'
import type { TurnContext } from '../state/turnContext.ts'

export function tellsRepeats(tables: Tables, job: NewJob): boolean {
  return tables.queues.get(queueOf(tables, job))?.settings.repeats === 'event'
}

/** Notes the event of the earlier job. If that is deleted by now, there is nothing to tell of. */
export function tellRepeat({ tables, facts, effects }: TurnContext, job: NewJob, first: JobKey): void {
  const earlier = tellsRepeats(tables, job) ? facts.find(first) : undefined
  if (earlier !== undefined) effects.event('deduplicated', earlier)
}
