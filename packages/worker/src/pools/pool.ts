/** A pool of places for handlers that are modules. A place that ignores an abort beyond its grace is killed, and replaced. */
import { type Clock, isErrorOf, type RunError, refusalFrom, WorkerStoppedError } from '@millrace/core'
import type { RunContext, RunLink } from '../context.ts'
import { Processes } from '../processes/processes.ts'
import { runErrorOf } from '../runError.ts'
import type { Settlement } from '../settlement.ts'
import { Threads } from '../threads/threads.ts'
import { type ModuleHandler, placesOf } from './handler.ts'
import type { FromRun, Task, ToRun } from './messages.ts'
import type { Places, StartedRun } from './places.ts'

interface PoolRun {
  started: StartedRun | undefined
  /** The error with which its place ends: a module that could not be loaded does not stay in the pool. */
  fatal: RunError | undefined
}

/** The time that modules may take to tear down before their places are ended. */
const TEARDOWN_MS = 5_000

export class Pool {
  readonly #url: string
  readonly #places: Places
  readonly #link: RunLink
  readonly #runs = new Map<RunContext, PoolRun>()
  /**
   * Runs that wait for a place, in order, with the function that starts or refuses them. They wait here, so that they can
   * be given back.
   */
  readonly #queue = new Map<RunContext, (start: boolean) => void>()
  #free: number
  #held = false

  constructor(handler: ModuleHandler, link: RunLink, clock: Clock) {
    this.#url = handler.url
    this.#free = placesOf(handler)
    this.#link = link
    this.#places = handler.kind === 'thread' ? new Threads(handler, clock) : new Processes(handler, clock)
  }

  /** Runs the job in a place as soon as one is free; never rejects. */
  async run(context: RunContext, checked: Task['checked']): Promise<Settlement> {
    const entered = await this.#enter(context)
    // It may have been aborted in between.
    if (entered && context.aborted !== undefined) this.#leave()
    if (!entered || context.aborted !== undefined) return failure(context, undefined, new WorkerStoppedError('given back unstarted'))
    const run: PoolRun = { started: undefined, fatal: undefined }
    this.#runs.set(context, run)
    const { maxDataBytes, replay } = this.#link
    const task: Task = { url: this.#url, grant: context.grant, checked, maxDataBytes, replaysAlways: replay?.always === true }
    try {
      run.started = this.#places.start(task, (message) => this.#hear(context, run, message))
      return await run.started.ended
    } catch (error) {
      return failure(context, run, error)
    } finally {
      this.#runs.delete(context)
      this.#leave()
    }
  }

  /** While held, gives back the runs that wait for a place, and those that come. */
  hold(isHeld: boolean): void {
    this.#held = isHeld
    if (!isHeld) return
    const waiting = [...this.#queue.values()]
    this.#queue.clear()
    for (const tell of waiting) tell(false)
  }

  abort(context: RunContext, reason: Error): void {
    this.#turnAway(context)
    this.#runs.get(context)?.started?.say({ kind: 'abort', ...refusalFrom(reason) })
  }

  leave(context: RunContext): void {
    this.#runs.get(context)?.started?.say({ kind: 'leave' })
  }

  messaged(context: RunContext): void {
    this.#runs.get(context)?.started?.say({ kind: 'messaged' })
  }

  kill(context: RunContext): void {
    this.#turnAway(context)
    this.#runs.get(context)?.started?.kill()
  }

  /** Closes the pool after the last run: the modules tear down within `ms`, at most 5 s, and the places end. */
  close(ms: number = TEARDOWN_MS): Promise<void> {
    return this.#places.close(Math.min(ms, TEARDOWN_MS))
  }

  /** Refuses a run that waits for a place. */
  #turnAway(context: RunContext): void {
    const tell = this.#queue.get(context)
    this.#queue.delete(context)
    tell?.(false)
  }

  #enter(context: RunContext): Promise<boolean> {
    if (this.#held) return Promise.resolve(false)
    if (this.#free > 0) {
      this.#free--
      return Promise.resolve(true)
    }
    return new Promise((resolve) => this.#queue.set(context, resolve))
  }

  /** Gives the place to the next in line. */
  #leave(): void {
    for (const [context, tell] of this.#queue) {
      this.#queue.delete(context)
      tell(true)
      return
    }
    this.#free++
  }

  #hear(context: RunContext, run: PoolRun, message: FromRun): void {
    const answer = <Value>(id: number, reply: Promise<Value>, noted: (value: Value) => void = () => {}) => {
      const say = (rest: Pick<Extract<ToRun, { kind: 'answer' }>, 'value' | 'refusal'>) => run.started?.say({ kind: 'answer', id, ...rest })
      void reply.then(
        (value) => {
          noted(value)
          say({ value, refusal: undefined })
        },
        (error) => say({ refusal: refusalFrom(error) }),
      )
    }
    switch (message.kind) {
      case 'progress':
        context.report(message.progress)
        break
      case 'log':
        context.addLines(message.lines)
        break
      case 'complaint':
        context.complain(message.mistake, message.message)
        break
      case 'heartbeat':
        answer(message.id, this.#link.heartbeat(context))
        break
      case 'checkpoint':
        answer(message.id, this.#link.checkpoint(context, message.value))
        break
      case 'parents':
        answer(message.id, this.#link.parents(context, message.after, message.until))
        break
      case 'recorded':
        answer(message.id, this.#link.steps(context).recorded())
        break
      case 'step':
        answer(message.id, this.#link.steps(context).step(message.result), () => context.noteResult())
        break
      case 'wait':
        answer(message.id, this.#link.steps(context).wait(message.waits, message.settled, message.end), ({ results }) => {
          if (results.length > 0) context.noteResult()
        })
        break
      case 'fatal':
        run.fatal = message.error
        break
    }
  }
}

/**
 * Returns the end of a run that was not started, died, could not load its module, or was killed: as the abort says, or as
 * an error that is retried.
 */
function failure({ aborted, grant: { seq, run } }: RunContext, begun: PoolRun | undefined, error: unknown): Settlement {
  const told = isErrorOf(aborted, 'MillraceError') ? aborted : error
  if (isErrorOf(told, 'WorkerStoppedError'))
    return begun?.started === undefined ? { op: 'giveBack', seq, run } : { op: 'giveBack', seq, run, started: true }
  return { op: 'fail', seq, run, error: begun?.fatal ?? runErrorOf(told) }
}
