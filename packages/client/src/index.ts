export type { JobRequest } from '@millrace/worker'
export type { WorkerView } from './attached.ts'
export type { JobEnqueued } from './channels.ts'
export { JobChecks } from './checks.ts'
export { Chunks, type ChunksOptions, isOfOne } from './chunks.ts'
export { Connectivity } from './connectivity.ts'
export { loggerOrDefault } from './defaultLogger.ts'
export { Engine } from './engine.ts'
export type { JobHandles, JobList, JobRequests, JobStream } from './enqueueMany.ts'
export type { EnqueueSink } from './enqueueSink.ts'
export type { JobCause, JobExplanation } from './explain.ts'
export type {
  Batch,
  BatchCallbacks,
  BatchWithCallbacks,
  CallbackHandles,
  Flow,
  FlowHandles,
  FlowNodeRequest,
  FlowNodes,
  FlowPlace,
} from './flow.ts'
export type { FlowDependency, FlowJob, FlowList, FlowPage, FlowSummary, Flows } from './flows.ts'
export type { ExportBatch, Exports } from './following.ts'
export {
  type Chunk,
  Forwarder,
  type ForwarderOptions,
  type Source,
  type SourceLog,
  type SourceRefusals,
} from './forwarding/forwarder.ts'
export type { SourceLine } from './forwarding/sourceLine.ts'
export { JobHandle } from './handle.ts'
export { type InboxEntry, inboxEntryOf } from './inboxEntry.ts'
export type { EventStream, EventStreamItem, EventsGap, JournalStream } from './journalStream.ts'
export type { EventGap, EventListener, EventName, EventOf, GapListener } from './listeners.ts'
export type { JobLogs, NumberedLog } from './logs.ts'
export { newJobOf } from './newJobs.ts'
export type { Failures, QueuesHistory, Throughput } from './observed.ts'
export type { JobPage } from './page.ts'
export type { PayloadPreview, PayloadPreviews } from './payloads.ts'
export type { PauseEnd, QueueKey, QueueKeys, QueueRate, QueueView } from './queues.ts'
export { retryLost } from './retryLost.ts'
export type { Schedule, ScheduleChanges, ScheduledJob, ScheduledOptions, SchedulePage, ScheduleSet, Schedules } from './schedules.ts'
export type { EngineSetup } from './setup.ts'
export { END_SIGNALS, onSignals, type SignalSource } from './signals.ts'
export type { JobMessage, JobStep, JobSteps, JobWait } from './steps.ts'
export { whyUnready } from './unready.ts'
export type {
  EngineEvent,
  EnginePauseEvent,
  Job,
  JobAttempt,
  JobFlow,
  JobLog,
  JobOf,
  MillraceEvent,
  QueueEvent,
  ScheduleEvent,
  WorkerEvent,
} from './view.ts'
