/** The rows of answers are the fields of the contract's interfaces, with their types. `tsc` fails if one has a field that the other lacks. */
import type * as Core from '@millrace/core'
import { expect, test } from 'vitest'
import type * as Counts from './counts.ts'
import type * as Events from './event.ts'
import type { STORED_EXPLANATION } from './explanation.ts'
import type { FAILURE } from './failure.ts'
import type { FLOW_SUMMARY, STORED_FLOW_JOB } from './flow.ts'
import type * as Jobs from './job.ts'
import type { AnswerRecord, FieldsOf, Same } from './kind.ts'
import type { QUEUE, QUEUE_KEYS } from './queue.ts'
import type { SCHEDULE_SET, STORED_SCHEDULE } from './schedule.ts'
import type { STATS } from './stats.ts'
import type { KEPT_MESSAGE, STORED_STEP, STORED_WAIT } from './step.ts'
import type { ATTACHED_WORKER } from './worker.ts'

type Wire<Of extends AnswerRecord> = FieldsOf<Of['rows'], 'wire'>

/** Each is `true`, or what differs. */
const same: {
  readonly LogLine: Same<Wire<typeof Jobs.LOG_LINE>, Core.LogLine>
  readonly NumberedLine: Same<Wire<typeof Jobs.NUMBERED_LINE>, Core.NumberedLine>
  readonly RunError: Same<Wire<typeof Jobs.RUN_ERROR>, Core.RunError>
  readonly AttemptView: Same<Wire<typeof Jobs.ATTEMPT>, Core.AttemptView>
  readonly LastRunView: Same<Wire<typeof Jobs.LAST_RUN>, Core.LastRunView>
  readonly FlowView: Same<Wire<typeof Jobs.FLOW_PLACE>, Core.FlowView>
  readonly JobView: Same<Wire<typeof Jobs.STORED_JOB>, Core.JobView>
  readonly StepResult: Same<Wire<typeof STORED_STEP>, Core.StepResult>
  readonly OpenWait: Same<Wire<typeof STORED_WAIT>, Core.OpenWait>
  readonly KeptMessage: Same<Wire<typeof KEPT_MESSAGE>, Core.KeptMessage>
  readonly QueueView: Same<Wire<typeof QUEUE>, Core.QueueView>
  readonly QueueKeys: Same<Wire<typeof QUEUE_KEYS>, Core.QueueKeys>
  readonly AttachedWorker: Same<Wire<typeof ATTACHED_WORKER>, Core.AttachedWorker>
  readonly ScheduleView: Same<Wire<typeof STORED_SCHEDULE>, Core.ScheduleView>
  readonly Upserted: Same<Wire<typeof SCHEDULE_SET>, Core.Upserted>
  readonly FlowJobView: Same<Wire<typeof STORED_FLOW_JOB>, Core.FlowJobView>
  readonly FlowSummaryView: Same<Wire<typeof FLOW_SUMMARY>, Core.FlowSummaryView>
  readonly Explanation: Same<Wire<typeof STORED_EXPLANATION>, Core.Explanation>
  readonly FailureGroup: Same<Wire<typeof FAILURE>, Core.FailureGroup>
  readonly HistoryPoint: Same<Wire<typeof Counts.HISTORY_POINT>, Core.HistoryPoint>
  readonly HistoryOfQueues: Same<Wire<typeof Counts.STORED_HISTORY>, Core.HistoryOfQueues>
  readonly Stats: Same<Wire<typeof STATS>, Core.Stats<Core.Percentiles & Partial<Core.Timing>>>
  readonly JobEvent: Same<
    Omit<Wire<typeof Events.JOB_EVENT>, 'jobId'>,
    Omit<Core.JobEvent, 'jobSeq' | 'node' | 'enqueuedAt' | 'message' | 'code' | 'cause'>
  >
  readonly QueueEvent: Same<Wire<typeof Events.QUEUE_EVENT>, Core.QueueEvent>
  readonly ScheduleEvent: Same<Wire<typeof Events.SCHEDULE_EVENT>, Core.ScheduleEvent>
  readonly WorkerEvent: Same<Wire<typeof Events.WORKER_EVENT>, Core.WorkerEvent>
  readonly EnginePauseEvent: Same<Wire<typeof Events.ENGINE_EVENT>, Core.EnginePauseEvent>
  readonly ExportView: Same<Wire<typeof Events.EXPORT>, Core.ExportView>
  readonly JournalGap: Same<Omit<Wire<typeof Events.EVENTS_GAP>, 'type'>, Core.JournalGap>
} = {
  LogLine: true,
  NumberedLine: true,
  RunError: true,
  AttemptView: true,
  LastRunView: true,
  FlowView: true,
  JobView: true,
  StepResult: true,
  OpenWait: true,
  KeptMessage: true,
  QueueView: true,
  QueueKeys: true,
  AttachedWorker: true,
  ScheduleView: true,
  Upserted: true,
  FlowJobView: true,
  FlowSummaryView: true,
  Explanation: true,
  FailureGroup: true,
  HistoryPoint: true,
  HistoryOfQueues: true,
  Stats: true,
  JobEvent: true,
  QueueEvent: true,
  ScheduleEvent: true,
  WorkerEvent: true,
  EnginePauseEvent: true,
  ExportView: true,
  JournalGap: true,
}

test('every row is a field of its interface, and every field has a row', () => {
  expect(Object.values(same).every((each) => each)).toBe(true)
})
