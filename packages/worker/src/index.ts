export { apart } from './apart.ts'
export type {
  BatchContext,
  BatchFunction,
  BatchHandler,
  BatchHandlerOptions,
  BatchItem,
  BatchOptions,
  BatchOutcome,
} from './batch/handler.ts'
export type { Calls } from './calls.ts'
export type { RunEnded, RunStarted } from './channels.ts'
export { quietClock, systemClock } from './clock.ts'
export {
  type Definition,
  type DefinitionOptions,
  defineJob,
  type Handler,
  type HandlerFunction,
  type HandlerOf,
  type InlineHandler,
} from './define.ts'
export type { Context, Parent, Received } from './handlerContext.ts'
export type { JobInfo } from './jobInfo.ts'
export type {
  DataField,
  EnqueueArguments,
  HandlerType,
  InputOf,
  JobOrName,
  JobRequest,
  JobType,
  MessageData,
  MessageName,
  MessagesOf,
  OutputOf,
  Stored,
} from './jobType.ts'
export type { JobsToJoin } from './join.ts'
export { aroundEnqueue, type EnqueueRequest, type Middleware, middlewareOption, type NextRequest } from './middleware.ts'
export type { ProcessHandler, ThreadHandler } from './pools/handler.ts'
export { runProcessFile } from './processes/processes.ts'
export { checkSchema } from './schema.ts'
export { Worker, type WorkerOptions } from './sessions.ts'
export type { ReplayHooks } from './steps/hooks.ts'
export type { StepContext } from './steps/replay.ts'
export { threadFile, threadOptions } from './threads/start.ts'
export { runThreadFile } from './threads/threads.ts'
export { VERSION } from './version.ts'
export { REPORT_EVERY_MS, VitalSigns } from './vitals.ts'
export { within } from './within.ts'
