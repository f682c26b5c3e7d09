export type {
  BatchContext,
  BatchFunction,
  BatchHandler,
  BatchHandlerOptions,
  BatchItem,
  BatchOptions,
  BatchOutcome,
} from './batch/handler.ts'
export type { RunEnded, RunStarted } from './channels.ts'
export { quietClock, systemClock } from './clock.ts'
export type { Context, JobInfo, Parent } from './context.ts'
export {
  type Definition,
  type DefinitionOptions,
  defineJob,
  type EnqueueArguments,
  type Handler,
  type HandlerFunction,
  type InlineHandler,
  type JobType,
} from './define.ts'
export { checkSchema } from './schema.ts'
export { Worker, type WorkerOptions } from './sessions.ts'
export { threadOptions } from './threads/execArgv.ts'
export type { ThreadHandler } from './threads/handler.ts'
export { within } from './within.ts'
export type { Calls } from './worker.ts'
