/** The fields of what durable calls leave with their job. */
import { STEP_KINDS } from '@millrace/core'
import { RUN_ERROR } from './job.ts'
import { COUNT, choice, DATA, record, STRING, TIME } from './kind.ts'

/** The fields of a recorded result that an engine and its clients have alike. */
export const STEP = record('JobStep', {
  number: { kind: COUNT, says: 'Place in the order in which the results of the job were recorded, from 1' },
  name: { kind: STRING, says: 'Name that the handler gave it, once in a job' },
  kind: { kind: choice(STEP_KINDS), says: 'Kind of the call that left it' },
  run: { kind: COUNT, says: 'Number of the run that recorded it; of a sleep: of the run that began it' },
  startedAt: { kind: TIME, says: 'Time at which the step or the sleep began' },
  endedAt: { kind: TIME, says: 'Time at which it was recorded' },
  value: { kind: DATA, says: 'Value that the call resolves to', nil: 'if there is none' },
  error: { kind: RUN_ERROR, says: 'Error that the step failed with in its last attempt', missing: 'unless it permanently failed' },
})

const ASKED = { kind: COUNT, says: 'One more than the number of the last result that the handler had when it asked for this' } as const

/** The same with what only the engine's answer has. */
export const STORED_STEP = record('JobStep', { ...STEP.rows, asked: ASKED })

/** The fields of a wait that an engine and its clients have alike. */
export const OPEN_WAIT = record('OpenWait', {
  name: { kind: STRING, says: 'Name that the handler gave it' },
  since: { kind: TIME, says: 'Time at which the engine first heard of it' },
  until: { kind: TIME, says: 'Time at which it ends', missing: 'if a message is awaited without a timeout' },
  message: { kind: STRING, says: 'Name of the message that it waits for', missing: 'unless it waits for one' },
})

export const STORED_WAIT = record('OpenWait', { ...OPEN_WAIT.rows, asked: ASKED })

/** The fields of a message that no wait has taken yet. */
export const KEPT_MESSAGE = record('KeptMessage', {
  number: { kind: COUNT, says: 'Place in the order in which the messages of the job came, from 1' },
  name: { kind: STRING, says: 'Name of the message' },
  at: { kind: TIME, says: 'Time at which it came' },
  value: { kind: DATA, says: 'Value that it carries', nil: 'if there is none' },
  by: { kind: STRING, says: 'Name of the token that sent it, or what the caller said', missing: 'if nobody said' },
})
