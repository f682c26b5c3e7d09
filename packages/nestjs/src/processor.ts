/** The decorators that make a provider a worker, and its methods handlers. */
import type { Engine } from '@millrace/client'
import { OptionTypeError, type StopOptions, validateWorkOptions, type WorkOptions } from '@millrace/core'
import type {
  BatchContext,
  BatchFunction,
  BatchHandlerOptions,
  BatchItem,
  Context,
  Definition,
  Handler,
  HandlerFunction,
  Worker,
} from '@millrace/worker'
import { Injectable } from '@nestjs/common'
import { DEFAULT_NAME, getEngineToken } from './tokens.ts'

/** The options of `@Processor`: those of `engine.work`, and the engine. */
export interface ProcessorOptions extends WorkOptions {
  /** The name of the engine, as `forRoot` has it. Default: the engine without a name. */
  readonly engine?: string
}

interface Settings {
  readonly engine: string
  readonly work: WorkOptions
}

/** A method of a class, and the handler that it is to become. */
type Declared = (run: (...args: never[]) => unknown) => Handler

/** A worker of an instance, from the module that starts it. */
export interface Duty {
  readonly engine: Engine
  readonly stop: StopOptions
  worker?: Worker
}

/** The wrong `descriptor` of a method that takes something else than the job has. */
interface TakesOtherData {
  readonly 'the parameter of this method must be the context of the job of the definition': never
}

/** Checks a parameter more strictly than TypeScript does it for methods. */
type Accepting<Method extends (...args: never[]) => unknown, Given> =
  Parameters<Method> extends readonly [] ? unknown : Given extends Parameters<Method>[0] ? unknown : TakesOtherData

type Descriptor<Method extends (...args: never[]) => unknown, Given> = TypedPropertyDescriptor<Method> & Accepting<Method, Given>

const SETTINGS = new WeakMap<object, Settings>()
const METHODS = new WeakMap<object, Map<string | symbol, Declared>>()
const DUTIES = new WeakMap<object, Duty>()

/**
 * Makes a provider a worker, with the options of `engine.work`. It starts when the application has started, and finishes its running
 * jobs before anything that the provider injects is destroyed.
 *
 * @example
 * ```ts
 * @Processor({ concurrency: 4 })
 * export class Mails {
 *   constructor(private readonly mailer: Mailer) {}
 *
 *   @Handles(sendMail)
 *   send({ data, signal }: Context<Mail>) {
 *     return this.mailer.deliver(data.to, { signal })
 *   }
 * }
 * ```
 * @throws OptionTypeError, OptionRangeError for a wrong option, or if no method has `@Handles`
 */
export function Processor({ engine = DEFAULT_NAME, ...work }: ProcessorOptions = {}): ClassDecorator {
  getEngineToken(engine)
  validateWorkOptions(work)
  return (target) => {
    if (methodsOf(target.prototype).size === 0)
      throw new OptionTypeError('Processor', `the class ${target.name} has no handler: put @Handles(definition) on a method of it`)
    SETTINGS.set(target, { engine, work })
    Injectable()(target)
  }
}

/**
 * Makes a method the handler of a job: it gets the context of each run, and its return value is the output. With `batch`, it gets
 * many jobs at once.
 *
 * @example
 * ```ts
 * @Handles(indexPage, { batch: { size: 100 } })
 * index(pages: readonly BatchItem<Page>[]) {
 *   return this.search.add(pages.map(({ data }) => data))
 * }
 * ```
 * @throws OptionTypeError, OptionRangeError for a wrong definition or option
 */
export function Handles<Input, Output, Data>(
  definition: Definition<Input, Output, Data>,
): <Method extends HandlerFunction<Data, Output>>(
  prototype: object,
  name: string | symbol,
  descriptor: Descriptor<Method, Context<Data>>,
) => void
export function Handles<Input, Output, Data>(
  definition: Definition<Input, Output, Data>,
  options: BatchHandlerOptions,
): <Method extends BatchFunction<Data, Output>>(
  prototype: object,
  name: string | symbol,
  descriptor: Descriptor<Method, readonly BatchItem<Data>[]>,
) => void
export function Handles(definition: Definition, options?: BatchHandlerOptions) {
  if (typeof definition?.handler !== 'function')
    throw new OptionTypeError('Handles', 'Handles takes the definition of a job: @Handles(sendMail), with the sendMail of defineJob')
  const declared: Declared = (run) =>
    options === undefined
      ? definition.handler((context: Context) => run(context as never))
      : definition.handler((items: readonly BatchItem[], context: BatchContext) => run(items as never, context as never) as never, options)
  // Wrong options are an error of the class, not of its start.
  declared(() => {})
  return (prototype: object, name: string | symbol) => {
    if (typeof name === 'object')
      throw new OptionTypeError('Handles', 'Handles needs "experimentalDecorators": true in tsconfig.json, as all decorators of NestJS do')
    const own = METHODS.get(prototype) ?? new Map<string | symbol, Declared>()
    METHODS.set(prototype, own.set(name, declared))
    listen(prototype as Hooks)
  }
}

/** Returns the name of the engine that a class works for; undefined if it has no handler. */
export function engineOf(prototype: object): string | undefined {
  return methodsOf(prototype).size === 0 ? undefined : settingsOf(prototype).engine
}

/** Assigns an engine to an instance, before its application has started. */
export function assign(instance: object, duty: Duty): void {
  if (DUTIES.has(instance))
    throw new OptionTypeError('name', `two engines have the name '${settingsOf(instance).engine}': give each forRoot its own name`)
  DUTIES.set(instance, duty)
}

interface Hooks {
  onApplicationBootstrap?(): unknown
  onModuleDestroy?(): unknown
}

const LISTENING = new WeakSet<object>()

/**
 * Starts and stops the worker by hooks of the class itself: Nest calls those of a provider after those of all that it injects when it
 * starts, and before them when it stops.
 */
function listen(prototype: Hooks): void {
  if (LISTENING.has(prototype)) return
  LISTENING.add(prototype)
  const { onApplicationBootstrap, onModuleDestroy } = prototype
  prototype.onApplicationBootstrap = async function (this: Hooks) {
    await onApplicationBootstrap?.call(this)
    start(this)
  }
  prototype.onModuleDestroy = async function (this: Hooks) {
    const duty = DUTIES.get(this)
    await duty?.worker?.stop(duty.stop)
    await onModuleDestroy?.call(this)
  }
}

function start(instance: object): void {
  const { engine, work } = settingsOf(instance)
  const duty = DUTIES.get(instance)
  if (duty === undefined) {
    const call = engine === DEFAULT_NAME ? 'MillraceModule.forRoot({ file })' : `MillraceModule.forRoot({ name: '${engine}', file })`
    throw new OptionTypeError(
      'engine',
      `the processor ${instance.constructor.name} has no engine: import ${call} in the application's module`,
    )
  }
  // A class and the one that it extends have the hook each.
  duty.worker ??= duty.engine.work(handlersOf(instance), work)
}

function handlersOf(instance: object): Handler[] {
  const methods = instance as Readonly<Record<string | symbol, (...args: never[]) => unknown>>
  return [...methodsOf(instance)].map(([name, declared]) => declared((...args) => methods[name]?.(...args)))
}

/** Returns the methods of a class and of those that it extends. */
function methodsOf(prototype: object): Map<string | symbol, Declared> {
  const inherited: unknown = Object.getPrototypeOf(prototype)
  const above = inherited === null ? [] : methodsOf(inherited as object)
  return new Map([...above, ...(METHODS.get(prototype) ?? [])])
}

/** Returns the options of the nearest class that has some, of it and those that it extends. */
function settingsOf(instance: object): Settings {
  let prototype: object | null = instance
  let settings: Settings | undefined
  while (prototype !== null && settings === undefined) {
    settings = SETTINGS.get(prototype.constructor)
    prototype = Object.getPrototypeOf(prototype)
  }
  if (settings === undefined)
    throw new OptionTypeError('Processor', `the class ${instance.constructor.name} has handlers, and no worker: put @Processor() on it`)
  return settings
}
