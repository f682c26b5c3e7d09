/** The fields of a flow, of its jobs and of what they wait for. */
import { FLOW_STATES, ON_PARENT_FAILURE, STATES } from '@millrace/core'
import { STATE_COUNTS } from './counts.ts'
import { COUNT, choice, ID, KEY, list, record, STRING, TIME } from './kind.ts'

const DEPENDENCY = {
  ref: { kind: STRING, says: 'Name of that job within its flow; empty if nothing is left that says it' },
  told: {
    kind: choice(['completed', 'failed', 'cancelled', 'deleted']),
    says: 'Its final state as the waiting job saw it, `deleted` if it had none',
    nil: 'until it ends',
  },
} as const

export const FLOW_DEPENDENCY = record(
  'FlowDependency',
  { id: { kind: ID, says: 'Id of a job that the job waits for' }, ...DEPENDENCY },
  'A job that a job of a flow waits for.',
)

const DEPENDENCIES =
  'Jobs that it waits for, in the order in which they were named; the next page begins with the rest if there are more than 1,000'

const FLOW_JOB_ROWS = {
  ref: { kind: STRING, says: 'Name of the job within the flow' },
  name: { kind: STRING, says: 'Name that routes the job to its handler' },
  queue: { kind: STRING, says: 'Queue of the job' },
  state: { kind: choice(STATES), says: 'State of the job' },
  attempt: { kind: COUNT, says: 'Number of attempts so far, the current one included' },
  runAt: { kind: TIME, says: 'Time at which the next run is due, or the last one was' },
  startedAt: { kind: TIME, says: 'Time at which the last run started', zero: 'before the first run' },
  finishedAt: { kind: TIME, says: 'Time at which the job ended', zero: 'until it ends' },
  onParentFailure: { kind: choice(ON_PARENT_FAILURE), says: 'Fate of the job if one that it waits for fails' },
  parents: { kind: COUNT, says: 'Number of jobs that it waits for' },
} as const

export const FLOW_JOB = record(
  'FlowJob',
  { id: { kind: ID, says: 'Id of the job' }, ...FLOW_JOB_ROWS, dependsOn: { kind: list(FLOW_DEPENDENCY), says: DEPENDENCIES } },
  'A job of a flow, without its payloads.',
)

const SEQ = { kind: COUNT, says: 'Row of the job; the rest of its id is that of the flow' } as const

/** The same as the engine sends it: the ids of a flow's jobs differ in their rows. */
export const STORED_FLOW_JOB = record('FlowJob', {
  seq: SEQ,
  ...FLOW_JOB_ROWS,
  dependsOn: {
    kind: list(
      record('FlowDependency', {
        seq: SEQ,
        node: { kind: COUNT, says: 'The rest of its id, together with `enqueuedAt`', missing: 'unless the waiting job has joined others' },
        enqueuedAt: { kind: TIME, says: 'Time at which it was enqueued', missing: 'unless the waiting job has joined others' },
        ...DEPENDENCY,
      }),
    ),
    says: DEPENDENCIES,
  },
})

export const FLOW_SUMMARY = record(
  'FlowSummary',
  {
    id: { kind: KEY, says: 'Id of the flow, which is that of its first job' },
    name: { kind: STRING, says: 'Name of its first job that is kept' },
    queue: { kind: STRING, says: 'Queue of its first job that is kept' },
    state: { kind: choice(FLOW_STATES), says: 'State of the flow' },
    states: { kind: STATE_COUNTS, says: 'Jobs of the flow that are kept, by state' },
    enqueuedAt: { kind: TIME, says: 'Time at which the flow was enqueued' },
    finishedAt: { kind: TIME, says: 'Time at which its last job ended', zero: 'while it runs' },
  },
  'A flow as lists show it.',
)
