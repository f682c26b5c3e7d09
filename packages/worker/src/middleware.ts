/**
 * Middleware: functions of the application around every enqueue and every run of an engine. The first is the outermost. Nothing here runs
 * for an engine without any.
 */
import {
  decodeData,
  describe,
  type EnqueueOptions,
  encodeData,
  handlerErrorOf,
  nameOption,
  OptionTypeError,
  WorkerStoppedError,
} from '@millrace/core'
import type { RunContext } from './context.ts'
import { type Ending, payloadOf, type Runnable, returned, threw } from './execute.ts'
import type { Context } from './handlerContext.ts'
import type { JobRequest } from './jobType.ts'
import { JoinSignal } from './join.ts'
import type { Settlement } from './settlement.ts'
import { SnoozeSignal } from './snoozeSignal.ts'
import { WaitSignal } from './steps/waitSignal.ts'

/** A job as the middleware of an enqueue sees it: as its caller gave it, before its data is checked and encoded. */
export interface EnqueueRequest {
  readonly name: string
  readonly data: unknown
  readonly options: EnqueueOptions
}

/** A job that a middleware passes on: with other data or options, and of the same name. */
export type NextRequest = Pick<EnqueueRequest, 'name'> & Partial<EnqueueRequest>

/** Code around every enqueue, every run, or both. */
export interface Middleware {
  /**
   * Runs around each call that creates jobs. `next` passes on the jobs, or others in their place: the same number, of the same names, in
   * the same order. It resolves when they are stored. An error thrown before `next` refuses all of them.
   */
  enqueue?(jobs: readonly EnqueueRequest[], next: (jobs?: readonly NextRequest[]) => Promise<void>): Promise<void> | void
  /**
   * Runs around each run of a job, where its worker is. `next` runs the handler and resolves with its output. What this returns replaces
   * the output, unless it is undefined; what it throws fails the run as an error of the handler does.
   */
  run?(context: Context, next: () => Promise<unknown>): unknown
}

/** @throws OptionTypeError */
export function middlewareOption(value: unknown): Middleware {
  const { enqueue, run } = typeof value === 'object' && value !== null ? (value as Partial<Record<keyof Middleware, unknown>>) : {}
  const isRight = [enqueue, run].every((each) => each === undefined || typeof each === 'function') && (enqueue ?? run) !== undefined
  if (isRight) return value as Middleware
  throw new OptionTypeError('middleware', `a middleware must be { enqueue, run }, functions both and one at least, got ${describe(value)}`)
}

/**
 * Passes jobs through the middleware to `send`, and returns its answer. The first middleware, and each one that is called synchronously,
 * runs at once.
 */
export async function aroundEnqueue<Request extends JobRequest, Answer>(
  list: readonly Middleware[],
  requests: readonly Request[],
  send: (requests: readonly Request[]) => Answer | Promise<Answer>,
): Promise<Answer> {
  const chain = list.filter(({ enqueue }) => enqueue !== undefined)
  let answer: { readonly of: Answer } | undefined
  const pass = async (place: number, jobs: readonly EnqueueRequest[]): Promise<void> => {
    const middleware = chain[place]
    if (middleware === undefined) {
      const changed = requests.map((request, index) => {
        const { data, options } = jobs[index] as EnqueueRequest
        return { ...request, data, options }
      })
      answer = { of: await send(changed) }
      return
    }
    let passed: Promise<void> | undefined
    await middleware.enqueue?.(jobs, (next = jobs) => {
      if (passed !== undefined) return Promise.reject(twice('enqueue'))
      passed = pass(place + 1, changedOf(jobs, next))
      // It is awaited below, too.
      passed.catch(() => {})
      return passed
    })
    if (passed === undefined) {
      throw new OptionTypeError('middleware', 'a middleware of enqueue must call next, or throw an error to refuse the jobs: it returned')
    }
    await passed
  }
  await pass(0, requests.map(requestOf))
  return (answer as unknown as { readonly of: Answer }).of
}

function requestOf({ job, data, options = {} }: JobRequest): EnqueueRequest {
  return { name: nameOption('name', typeof job === 'string' ? job : job.name), data, options }
}

function changedOf(before: readonly EnqueueRequest[], after: readonly NextRequest[]): readonly EnqueueRequest[] {
  const wrong = (what: string) => new OptionTypeError('middleware', `a middleware of enqueue must pass on the same jobs: ${what}`)
  if (!Array.isArray(after)) throw wrong(`next takes an array, got ${describe(after)}`)
  if (after.length !== before.length) throw wrong(`it was given ${before.length} and passed on ${after.length}`)
  return before.map((job, index) => {
    const next: unknown = after[index]
    if (typeof next !== 'object' || next === null) throw wrong(`jobs[${index}] is ${describe(next)}`)
    const { name, data, options } = { ...job, ...(next as NextRequest) }
    if (name !== job.name) throw wrong(`jobs[${index}] was '${job.name}' and is ${describe(name)}`)
    return { name, data, options }
  })
}

/** Runs the middleware around a handler of this thread. */
export function aroundRun(list: readonly Middleware[], context: Context, handle: () => unknown): unknown {
  const pass = (place: number): unknown => {
    const middleware = list[place]
    return middleware === undefined ? handle() : passed(middleware, context, () => pass(place + 1))
  }
  return pass(0)
}

/** The promise that `next` returns. It knows whether its middleware has asked for the error; `await` of a plain promise would not tell. */
class Inner extends Promise<unknown> {
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  isHeard = false

  // biome-ignore lint/suspicious/noThenProperty: a promise that counts who waits for it
  override then<Value = unknown, Caught = never>(
    onValue?: ((value: unknown) => Value | PromiseLike<Value>) | null,
    onError?: ((error: unknown) => Caught | PromiseLike<Caught>) | null,
  ): Promise<Value | Caught> {
    if (onError) this.isHeard = true
    return super.then(onValue, onError)
  }
}

/** A run ends when its handler has ended, whether the middleware waits for it or not. */
async function passed(middleware: Middleware, context: Context, inner: () => unknown): Promise<unknown> {
  let called: Inner | undefined
  let ran: Promise<unknown> | undefined
  let isOver = false
  const next = () => {
    if (called !== undefined) return Promise.reject(twice('run'))
    const running = (async () => inner())()
    ran = running
    const over = () => {
      isOver = true
    }
    running.then(over, over)
    called = new Inner((resolve) => resolve(running))
    // Whoever does not wait for it leaves no rejection behind.
    Promise.prototype.then.call(called, undefined, () => {})
    return called
  }
  let output: unknown
  try {
    output = await middleware.run?.(context, next)
  } catch (error) {
    await ran?.catch(() => {})
    throw error
  }
  // An error of the handler is caught by a middleware that has waited for it, and by no other.
  const isCaught = isOver && called?.isHeard === true
  const own = isCaught ? await ran?.catch(() => undefined) : await ran
  return output === undefined ? own : output
}

/** Returns the runnable with middleware around it. Its context passes the jobs that it enqueues through them, too. */
export function withMiddleware<Given extends Runnable>(
  runnable: Given,
  list: readonly Middleware[],
  ending: Ending,
  maxDataBytes: number,
): Given {
  const runs = list.filter(({ run }) => run !== undefined)
  const { run, settle } = runnable
  const enter = (context: RunContext) => {
    if (list.some(({ enqueue }) => enqueue !== undefined)) context.around = (requests, send) => aroundEnqueue(list, requests, send)
  }
  return {
    ...runnable,
    ...(run && {
      run: async (context: RunContext) => {
        enter(context)
        const output = await aroundRun(runs, context, () => untilEnded(context, run))
        await context.added()
        return output
      },
    }),
    ...(settle && {
      settle: (context: RunContext, checked: { readonly data: unknown } | undefined) => {
        enter(context)
        return aroundSettle({ runs, ending, maxDataBytes }, context, checked, () => settle(context, checked))
      },
    }),
  }
}

/** Runs the handler. If a durable call ends its run, it rejects with the reason: the handler itself never settles then. */
function untilEnded(context: RunContext, run: (context: RunContext) => unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const { failed } = context
    context.failed = (error) => {
      // The engine has it already, so it does not depend on the middleware.
      if (error instanceof WaitSignal) failed(error)
      reject(error)
    }
    Promise.resolve(run(context)).then(resolve, reject)
  })
}

interface Around {
  readonly runs: readonly Middleware[]
  readonly ending: Ending
  readonly maxDataBytes: number
}

/** Runs the middleware around a handler that is run elsewhere: in another thread, or with other jobs. Returns how the run ended. */
async function aroundSettle(
  { runs, ending, maxDataBytes }: Around,
  context: RunContext,
  checked: { readonly data: unknown } | undefined,
  settle: () => Promise<Settlement>,
): Promise<Settlement> {
  let last: Settlement | undefined
  let ended: unknown
  const handle = async () => {
    last = await settle()
    if (last.op !== 'complete') {
      ended = errorOf(last)
      throw ended
    }
    ended = decodeData(last.output)
    return ended
  }
  try {
    context.payload = checked === undefined ? payloadOf({ ...ending, schema: undefined }, context.grant) : checked.data
    const output = await aroundRun(runs, context, handle)
    await context.added()
    if (last?.op !== 'complete') return last === undefined || last.op === 'fail' ? returned(ending, context, output, maxDataBytes) : last
    const { enqueues = last.enqueues } = context
    return { ...last, output: output === ended ? last.output : encodeData('output', output, maxDataBytes), ...(enqueues && { enqueues }) }
  } catch (error) {
    return last !== undefined && (error === ended || OWN_ENDS.has(last.op)) ? last : threw(ending, context, error)
  }
}

/** Ends that no middleware changes. */
const OWN_ENDS: ReadonlySet<Settlement['op']> = new Set(['snooze', 'join', 'asleep', 'giveBack'])

/** Returns the error by which a middleware sees an end that is no completion. */
function errorOf(settlement: Exclude<Settlement, { op: 'complete' }>): Error {
  switch (settlement.op) {
    case 'fail':
      return handlerErrorOf(settlement.error)
    case 'snooze':
      return new SnoozeSignal(settlement.delay)
    case 'join':
      return new JoinSignal(settlement.name, settlement.jobs)
    case 'asleep':
      return new WaitSignal()
    default:
      return new WorkerStoppedError('the job was given back')
  }
}

function twice(side: keyof Middleware): OptionTypeError {
  return new OptionTypeError('middleware', `a middleware of ${side} must call next once: it called it again`)
}
