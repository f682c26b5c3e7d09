/** The fields of an explanation why a job has not ended. */
import { CAUSES, STATES } from '@millrace/core'
import { COUNT, choice, ID, list, record, STRING, TIME } from './kind.ts'

const CODE = { kind: choice(CAUSES), says: 'Stable code of the cause' } as const

const CAUSE_ROWS = {
  of: { kind: STRING, says: 'Key, name of the shared limit, or name of the sleep', missing: 'if the cause has none of them' },
  until: { kind: TIME, says: 'Time at which the cause ends, unless something else happens before', missing: 'if only a change ends it' },
  used: { kind: COUNT, says: 'Used part of `limit`; for `parents`, the jobs that have not ended', missing: 'if the cause has no limit' },
  limit: { kind: COUNT, says: 'Limit, or room of the workers', missing: 'if the cause has none' },
} as const

const JOB_ROWS = {
  name: { kind: STRING, says: 'Name of the job' },
  queue: { kind: STRING, says: 'Queue of the job' },
  state: { kind: choice(STATES), says: 'State of the job' },
  attempt: { kind: COUNT, says: 'Number of attempts so far, the current one included' },
  maxAttempts: { kind: COUNT, says: 'Attempts in total, the first included' },
} as const

const DEADLINE = {
  kind: TIME,
  says: 'Time at which the engine ends its run',
  missing: 'if the job does not run, or nothing limits the run',
} as const

const CAUSES_SAY = 'Causes that keep it from its start now; empty for a job that runs or has ended'

/** The engine's answer. Clients add the words. */
export const STORED_EXPLANATION = record('Explanation', {
  ...JOB_ROWS,
  causes: { kind: list(record('Cause', { code: CODE, ...CAUSE_ROWS })), says: CAUSES_SAY },
  deadlineAt: DEADLINE,
})

export const CAUSE = record('JobCause', {
  code: CODE,
  message: { kind: STRING, says: 'The cause in words, without a subject: it begins with `waits`' },
  ...CAUSE_ROWS,
})

export const EXPLANATION = record('JobExplanation', {
  id: { kind: ID, says: 'Id of the job' },
  ...JOB_ROWS,
  message: { kind: STRING, says: 'First cause in words, or the state of the job if it waits for nothing' },
  causes: { kind: list(CAUSE), says: CAUSES_SAY },
  deadlineAt: DEADLINE,
})
