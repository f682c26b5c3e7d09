/**
 * The tables of what answers hold: a row for each field, with its kind and its sentence. Schemas of HTTP, tables of docs and the Python
 * client derive from them. An entry of its own: an engine does not load it.
 */
export { HISTORY_POINT, QUEUES_HISTORY, STATE_COUNTS, STORED_HISTORY, TOTALS } from './answers/counts.ts'
export { ENGINE_EVENT, EVENTS_GAP, EXPORT, JOB_EVENT, QUEUE_EVENT, SCHEDULE_EVENT, WORKER_EVENT } from './answers/event.ts'
export { CAUSE, EXPLANATION, STORED_EXPLANATION } from './answers/explanation.ts'
export { FAILURE } from './answers/failure.ts'
export { FLOW_DEPENDENCY, FLOW_JOB, FLOW_SUMMARY, STORED_FLOW_JOB } from './answers/flow.ts'
export {
  ATTEMPT,
  CANCELLATION,
  DECODED,
  FLOW_PLACE,
  JOB,
  LAST_RUN,
  NUMBERED_LINE,
  RUN_CAUSE,
  RUN_ERROR,
  STORED_JOB,
} from './answers/job.ts'
export type {
  Answer,
  AnswerKind,
  AnswerOf,
  AnswerOptions,
  AnswerRecord,
  Answers,
  FieldsOf,
  Same,
  Surface,
  ValueOn,
} from './answers/kind.ts'
export { QUEUE, QUEUE_KEY, QUEUE_KEYS } from './answers/queue.ts'
export { SCHEDULE, SCHEDULE_RESULT, SCHEDULE_SET, STORED_SCHEDULE } from './answers/schedule.ts'
export { STATS } from './answers/stats.ts'
export { KEPT_MESSAGE, OPEN_WAIT, STEP, STORED_STEP, STORED_WAIT } from './answers/step.ts'
export { ATTACHED_WORKER, WORKER } from './answers/worker.ts'
