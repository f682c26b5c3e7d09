/** The rows of answers are the fields of the contract's interfaces, with their types. `tsc` fails if one has a field that the other lacks. */
import type { AttemptView, FlowView, JobView, LastRunView, LogLine, NumberedLine, RunError } from '@millrace/core'
import { expect, test } from 'vitest'
import type { ATTEMPT, FLOW_PLACE, LAST_RUN, LOG_LINE, NUMBERED_LINE, RUN_ERROR, STORED_JOB } from './job.ts'
import type { AnswerRecord, FieldsOf, Same } from './kind.ts'

type Wire<Of extends AnswerRecord> = FieldsOf<Of['rows'], 'wire'>

/** Each is `true`, or what differs. */
const same: {
  readonly LogLine: Same<Wire<typeof LOG_LINE>, LogLine>
  readonly NumberedLine: Same<Wire<typeof NUMBERED_LINE>, NumberedLine>
  readonly RunError: Same<Wire<typeof RUN_ERROR>, RunError>
  readonly AttemptView: Same<Wire<typeof ATTEMPT>, AttemptView>
  readonly LastRunView: Same<Wire<typeof LAST_RUN>, LastRunView>
  readonly FlowView: Same<Wire<typeof FLOW_PLACE>, FlowView>
  readonly JobView: Same<Wire<typeof STORED_JOB>, JobView>
} = {
  LogLine: true,
  NumberedLine: true,
  RunError: true,
  AttemptView: true,
  LastRunView: true,
  FlowView: true,
  JobView: true,
}

test('every row is a field of its interface, and every field has a row', () => {
  expect(Object.values(same).every((each) => each)).toBe(true)
})
