/** The classes of the Python client's answers, and what they have otherwise than the rows: names, forms, and the order of fields. */
import { mapJobTexts } from '@millrace/core'
import * as core from '@millrace/core/answers'

export interface Own {
  readonly name?: string
  readonly type?: string
  readonly read?: string
  readonly says?: string
}

export interface ViewClass {
  readonly name: string
  readonly module: '_views' | '_figures'
  /** The function that reads it; undefined if other code makes it. */
  readonly reader?: string
  readonly says: string
  readonly rows: core.Answers
  readonly own?: Readonly<Record<string, Own>>
  /** Further parameters of the function, and what it does first. */
  readonly takes?: string
  readonly first?: string
}

/** Answers that stay dicts with known fields. */
export const TYPED_DICTS: readonly { readonly name: string; readonly says: string; readonly rows: core.Answers }[] = [
  { name: 'Cause', says: 'One link of the chain of causes of an error.', rows: core.RUN_CAUSE.rows },
  { name: 'RunError', says: 'The error that a run has failed with.', rows: core.RUN_ERROR.rows },
]

/** The classes by the names of the records that they show. Other records stay dicts. */
export const VIEW_OF: Readonly<Record<string, string>> = {
  EventsGap: 'Event',
  Job: 'JobInfo',
  RunCause: 'Cause',
  RunError: 'RunError',
  LastError: 'RunError',
  LogLine: 'LogLine',
  Attempt: 'AttemptInfo',
  LastRun: 'LastRun',
  FlowPlace: 'FlowPlace',
  JobCause: 'JobCause',
  JobStep: 'JobStep',
  OpenWait: 'JobWait',
  KeptMessage: 'JobMessage',
  QueueKey: 'QueueKey',
}

const { id, name, queue, state, data, output, checkpoint, cancellation: _, lastRun, lostRuns, ...JOB } = core.JOB.rows
const { cancelRequested, tags, meta, idempotencyKey, uniqueKey, flow, attempts, ...OTHERS } = JOB
const TEXTS = mapJobTexts((text) => JOB[text])
const RUN = Object.fromEntries(Object.entries(OTHERS).filter(([field]) => !(field in TEXTS)))
const { progress, progressNote, progressValue } = core.DECODED.rows
const { reason, by } = core.CANCELLATION.rows
const { enqueuedAt: __, ...FLOW } = core.FLOW_SUMMARY.rows

/** A field that only some events have. */
const some = (row: core.Answer, says = row.says): core.Answer => ({ ...row, says, missing: 'otherwise' })

const EVENT: core.Answers = {
  seq: core.JOB_EVENT.rows.seq,
  type: { ...core.JOB_EVENT.rows.type, says: 'Type of the event, of docs/events.md, or `gap`' },
  at: some(core.JOB_EVENT.rows.at),
  jobId: some(core.JOB_EVENT.rows.jobId, 'Id of the job, or of the job that a schedule created'),
  queue: some(core.JOB_EVENT.rows.queue, 'Queue of the job, or the queue itself'),
  name: some(core.JOB_EVENT.rows.name, 'Name of the job, or job name that the event is about'),
  run: some(core.JOB_EVENT.rows.run),
  attempt: some(core.JOB_EVENT.rows.attempt),
  error: core.JOB_EVENT.rows.error,
  progress: core.JOB_EVENT.rows.progress,
  runAt: core.JOB_EVENT.rows.runAt,
  key: core.QUEUE_EVENT.rows.key,
  schedule: some(core.SCHEDULE_EVENT.rows.schedule),
  tick: core.SCHEDULE_EVENT.rows.tick,
  reason: core.SCHEDULE_EVENT.rows.reason,
  worker: some(core.WORKER_EVENT.rows.worker),
  session: some(core.WORKER_EVENT.rows.session),
  after: some(core.EVENTS_GAP.rows.after),
  resumesAt: some(core.EVENTS_GAP.rows.resumesAt),
}

const MAYBE = 'Optional[int]'
const RETRYING: Own = { type: MAYBE, read: 'said.get("retrying")' }

export const CLASSES: readonly ViewClass[] = [
  {
    name: 'LogLine',
    module: '_views',
    reader: 'log_line',
    says: 'A line that a handler has logged.',
    rows: { ...core.NUMBERED_LINE.rows, number: { ...core.NUMBERED_LINE.rows.number, missing: 'in the answer of `get`' } },
  },
  { name: 'AttemptInfo', module: '_views', reader: 'attempt_info', says: core.ATTEMPT.says, rows: core.ATTEMPT.rows },
  { name: 'FlowPlace', module: '_views', reader: 'flow_place', says: core.FLOW_PLACE.says, rows: core.FLOW_PLACE.rows },
  { name: 'LastRun', module: '_views', reader: 'last_run', says: core.LAST_RUN.says, rows: core.LAST_RUN.rows },
  {
    name: 'JobInfo',
    module: '_views',
    reader: 'job_info',
    says: 'A job as `get` and `jobs` answer it.',
    rows: {
      ...{ id, name, queue, state, data, output, checkpoint, progress, progressNote, progressValue },
      ...RUN,
      ...{ cancelRequested, reason, by, lostRuns, tags, meta, idempotencyKey, uniqueKey, ...TEXTS, flow, attempts },
      bytes: core.STORED_JOB.rows.bytes,
      lastRun,
    },
    own: {
      progress: { read: 'progress' },
      progressNote: { read: 'note' },
      progressValue: { read: 'value' },
      reason: { name: 'cancel_reason', read: 'cancellation.get("reason")', says: 'Reason why it was cancelled, or is being cancelled' },
      by: { name: 'cancelled_by', read: 'cancellation.get("by")' },
      heartbeatTimeout: { type: 'Optional[float]' },
      bytes: { name: 'payload_bytes' },
    },
    first: '    progress, note, value = progress_of(said["progress"])\n    cancellation = said.get("cancellation") or {}\n',
  },
  {
    name: 'QueueInfo',
    module: '_figures',
    reader: 'queue_info',
    says: 'A queue. Its `settings` have the names of `configure_queue`.',
    rows: core.QUEUE.rows,
    own: { retrying: RETRYING },
  },
  {
    name: 'WorkerInfo',
    module: '_figures',
    reader: 'worker_info',
    says: 'A worker that is attached. Times are by the engine’s clock.',
    rows: core.ATTACHED_WORKER.rows,
    own: {
      order: { read: 'said.get("order") or "fair"' },
      paused: { read: 'bool(said.get("paused"))' },
      kind: { type: 'Optional[str]', read: 'said.get("kind")' },
    },
  },
  {
    name: 'ScheduleInfo',
    module: '_figures',
    reader: 'schedule_info',
    says: 'A schedule. `spec` has the options of `upsert_schedule`, and `job` those of `new_job`, without `data` in lists.',
    rows: core.STORED_SCHEDULE.rows,
    own: {
      lastJobId: { name: 'last_job' },
      createdAt: { type: 'Optional[datetime]', read: 'when(said.get("createdAt"))' },
      updatedAt: { type: 'Optional[datetime]', read: 'when(said.get("updatedAt"))' },
    },
  },
  {
    name: 'ScheduleSet',
    module: '_figures',
    reader: 'schedule_set',
    says: 'The outcome of `upsert_schedule`.',
    rows: core.SCHEDULE_SET.rows,
  },
  { name: 'FlowInfo', module: '_figures', reader: 'flow_info', says: 'A flow.', rows: FLOW },
  {
    name: 'FlowDependency',
    module: '_figures',
    reader: 'flow_dependency',
    says: core.FLOW_DEPENDENCY.says,
    rows: core.FLOW_DEPENDENCY.rows,
    takes: ', first: Fields',
    own: { id: { read: 'job_id({**first, **said})' } },
  },
  {
    name: 'FlowJob',
    module: '_figures',
    reader: 'flow_job',
    says: 'A job of a flow; `get` has the rest.',
    rows: core.FLOW_JOB.rows,
    takes: ', first: Fields',
    own: {
      id: { read: 'job_id({**first, "seq": said["seq"]})' },
      dependsOn: { type: 'List[FlowDependency]', read: '[flow_dependency(each, first) for each in said["dependsOn"]]' },
    },
  },
  { name: 'ExportInfo', module: '_views', says: 'An export.', rows: core.EXPORT.rows },
  {
    name: 'ExportBatch',
    module: '_views',
    reader: 'export_batch',
    says: 'Jobs that have ended, whole, in the order in which they ended.',
    rows: {
      jobs: { kind: { type: 'list', of: core.JOB }, says: 'The jobs' },
      missed: { kind: { type: 'count' }, says: 'Jobs that ended, and were gone before they could be exported' },
      gap: { kind: core.EVENTS_GAP, says: 'Event of the type `gap`', nil: 'unless the journal has lost events before the batch' },
    },
    own: {
      gap: { read: 'or_none(gap, said.get("gap"))' },
    },
  },
  {
    name: 'Event',
    module: '_views',
    reader: 'event',
    says: 'An event. Only some types have the other fields. A `gap` stands for events that the journal no longer has: those behind `after` and before `resumes_at`.',
    rows: EVENT,
    own: { jobId: { name: 'job', read: 'event_job(said)' } },
  },
  {
    name: 'Stats',
    module: '_figures',
    reader: 'stats',
    says: 'Counts of the whole engine. Durations within are in seconds, and times are datetimes.',
    rows: core.STATS.rows,
    own: { retrying: RETRYING },
  },
  {
    name: 'JobCause',
    module: '_views',
    says: 'One cause that keeps a job from its start. docs/lifecycle.md lists the codes.',
    rows: core.CAUSE.rows,
  },
  {
    name: 'JobStep',
    module: '_views',
    reader: 'job_step',
    says: 'A result that a durable call of a handler has recorded: every later run of the job gets it again.',
    rows: core.STEP.rows,
  },
  { name: 'JobWait', module: '_views', reader: 'job_wait', says: 'A wait of a job that has yet to end.', rows: core.OPEN_WAIT.rows },
  {
    name: 'JobMessage',
    module: '_views',
    reader: 'job_message',
    says: 'A message that no wait has taken yet.',
    rows: core.KEPT_MESSAGE.rows,
  },
  {
    name: 'JobSteps',
    module: '_views',
    reader: 'job_steps',
    says: 'A page of the results that a job has recorded.',
    rows: {
      steps: { kind: { type: 'list', of: core.STEP }, from: 'results', says: 'The results, in the order of their numbers' },
      waits: { kind: { type: 'list', of: core.OPEN_WAIT }, says: 'The open waits of the job, the earliest end first' },
      messages: { kind: { type: 'list', of: core.KEPT_MESSAGE }, says: 'The oldest messages that the job keeps' },
      kept: { kind: { type: 'count' }, says: 'The number of all messages that it keeps' },
      next: { kind: { type: 'count' }, says: 'Give it as `after` for the next page', nil: 'at the end' },
    },
  },
  { name: 'Explanation', module: '_views', says: 'The reasons why a job has not ended.', rows: core.EXPLANATION.rows },
  {
    name: 'Throughput',
    module: '_figures',
    reader: 'throughput',
    says: 'The jobs of a queue in a minute or an hour.',
    rows: core.HISTORY_POINT.rows,
  },
  {
    name: 'QueuesHistory',
    module: '_figures',
    reader: 'queues_history',
    says: 'The past of all queues. Place 0 of each list is the minute or hour that began at `start`.',
    rows: core.QUEUES_HISTORY.rows,
    own: {
      from: { name: 'start' },
      queues: { read: '{each["name"]: {name: counts for name, counts in each.items() if name != "name"} for each in said["queues"]}' },
    },
  },
  {
    name: 'FailureKind',
    module: '_figures',
    reader: 'failure_kind',
    says: core.FAILURE.says,
    rows: core.FAILURE.rows,
    own: { jobId: { name: 'job' } },
  },
  { name: 'QueueKey', module: '_figures', reader: 'queue_key', says: 'A concurrency key of a queue.', rows: core.QUEUE_KEY.rows },
  {
    name: 'QueueKeys',
    module: '_figures',
    reader: 'queue_keys',
    says: 'The keys of a queue that have the most waiting jobs.',
    rows: core.QUEUE_KEYS.rows,
  },
]
