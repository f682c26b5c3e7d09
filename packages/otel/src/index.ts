export { type Enqueues, traceEnqueues } from './enqueues.ts'
export { traceMeta } from './meta.ts'
export { traceRun } from './runs.ts'
