/** The fields of a kind of failures. */
import { COUNT, ID, list, record, STRING, TIME } from './kind.ts'

export const FAILURE = record(
  'Failure',
  {
    fingerprint: { kind: STRING, says: 'Identity of the kind, the same in every queue and file: 14 hexadecimal digits' },
    queue: { kind: STRING, says: 'Queue of the jobs' },
    name: { kind: STRING, says: 'Name of the jobs' },
    error: { kind: STRING, says: 'Name of the error’s class' },
    count: { kind: COUNT, says: 'Number of runs that failed in this way' },
    firstAt: { kind: TIME, says: 'Time of the first of them' },
    lastAt: { kind: TIME, says: 'Time of the last of them' },
    jobId: { kind: ID, from: 'job', says: 'Id of the job that failed last in this way', nil: 'if that job is gone' },
    message: { kind: STRING, says: 'Message of the error of that job', nil: 'if that job is gone' },
    trend: {
      kind: list(COUNT),
      says: 'Failed runs in each of the last 24 hours, the oldest first; the last place is the current hour',
      missing: 'unless the question asks for it',
    },
  },
  'Failed runs with the same class of error and, but for the parts that differ from job to job, the same message.',
)
