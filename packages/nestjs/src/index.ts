/** Millrace in NestJS: a module, decorators and a health check. */
export { type EngineHealth, engineHealth } from './health.ts'
export { type MillraceApplicationOptions, type MillraceAsyncOptions, MillraceModule, type MillraceModuleOptions } from './module.ts'
export { Handles, Processor, type ProcessorOptions } from './processor.ts'
export { getEngineToken, InjectEngine } from './tokens.ts'
