/** Shell-command jobs: the commands that a worker allows, run as whole process groups. */
export type { CommandSpec, EnvironmentOptions } from './command/spec.ts'
export type { ArgumentTemplate } from './command/template.ts'
export { BadArgsError, CommandFailedError, type Ending } from './errors.ts'
export { type ExecOptions, execHandlers } from './handlers.ts'
export type { Captured } from './output/excerpt.ts'
export type { ProcessLimits } from './process/launch.ts'
export type { ExecOutput } from './run.ts'
