/** The durable calls of one run as its context has them: what they take, how they end the run, and which of its reports count. */
import {
  type Duration,
  describe,
  durationOption,
  isErrorOf,
  type LogLine,
  NonRetryableError,
  OptionTypeError,
  RunSuspended,
  START,
  StepsChangedError,
  textOption,
  timeOption,
  validateWaitForOptions,
  type WaitForOptions,
  WorkerStoppedError,
} from '@millrace/core'
import { systemClock } from '../clock.ts'
import type { Progress } from '../handlerContext.ts'
import { isHopeless } from '../hopeless.ts'
import { runErrorOf } from '../runError.ts'
import type { Settlement } from '../settlement.ts'
import { HeldReports } from './heldReports.ts'
import type { Host, Worker } from './host.ts'
import { stepOf } from './inStep.ts'
import { Replay, type StepContext, type StepsLink } from './replay.ts'
import { WaitSignal } from './waitSignal.ts'

/** The time that a run waits for its handler to ask for a result that is due. A test waits in real time: its clock may stand still. */
const CHANGED_AFTER_MS = 1_000

const STRAYED = 'a run of the job has ended with a wait while its handler had other work pending: put that work into a step'

export class RunSteps {
  readonly #context: Host
  readonly #link: Worker
  readonly #steps: () => StepsLink
  readonly #held: HeldReports
  #replay: Replay | undefined
  #isOver = false
  #isAsleep = false

  /** Puts itself between the handler and the end of its run. */
  constructor(context: Host, link: Worker, steps: () => StepsLink) {
    this.#context = context
    this.#link = link
    this.#steps = steps
    this.#held = new HeldReports(context, link)
    const { settled } = context
    context.settled = (settlement) => {
      if (!this.#isOver) settled(this.#over(settlement))
      else if (this.#isAsleep && link.replay?.always) link.replay.strayed.add(context.job.id)
    }
  }

  step(name: string, fn: (context: StepContext) => unknown): Promise<unknown> {
    return this.#ask(name, (replay) => {
      if (typeof fn !== 'function') throw new OptionTypeError('fn', `step '${name}' takes a function to call, got ${describe(fn)}`)
      return replay.step(name, fn)
    })
  }

  sleep(name: string, until: Duration | Date): Promise<void> {
    return this.#ask(name, (replay) => {
      if (!(until instanceof Date)) return replay.wait(name, { delay: durationOption('sleep', until) }) as Promise<void>
      const time = timeOption('sleep', until)
      durationOption('sleep', Math.max(0, time - this.#link.now()))
      return replay.wait(name, { until: time }) as Promise<void>
    })
  }

  waitFor(message: string, options: WaitForOptions = {}): Promise<unknown> {
    const read = async () => {
      const { timeout, as = textOption('message', message) } = validateWaitForOptions(options)
      return this.#ask(as, (replay) => replay.wait(as, { message, ...(timeout !== undefined && { delay: timeout }) }))
    }
    return read()
  }

  /** Looks for a message that has come for the open waits. */
  messaged(): void {
    this.#replay?.messaged()
  }

  changed(name: string): Promise<boolean> {
    return this.#ask(name, (replay) => replay.changed(name))
  }

  /** Returns true for a report that is not stored, or not yet: an earlier run may have made it from here. */
  holds(report: LogLine | Progress): boolean {
    const replay = this.#replay
    if (replay !== undefined && stepOf(replay) !== undefined) return false
    return replay?.isKnown === true ? replay.isReplaying : this.#held.take(report)
  }

  /** Gives the job back at the next durable call, or when the steps that run have ended. */
  leave(): void {
    this.#replay?.leave(new WorkerStoppedError('the worker is stopping: the job is given back'))
  }

  #ask<Value>(name: string, ask: (replay: Replay) => Promise<Value>): Promise<Value> {
    try {
      return ask(this.#for(name))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Returns the durable calls of the run for a call of that name. */
  #for(name: string): Replay {
    if (textOption('name', name) === START)
      throw new OptionTypeError('name', `a durable call cannot have the name '${START}', which stands for the beginning of a handler`)
    this.#replay ??= this.#begin()
    const { isLeaving, job } = this.#context
    if (isLeaving) this.leave()
    if (this.#link.replay?.strayed.delete(job.id)) this.#end(new NonRetryableError(STRAYED))
    return this.#replay
  }

  #begin(): Replay {
    const { grant, job } = this.#context
    const replay = new Replay({
      link: this.#steps(),
      isFirst: grant.run === 1,
      jobId: job.id,
      attempt: grant.attempt,
      maxDataBytes: this.#link.maxDataBytes,
      isFinal: (error, attempt) => this.#isFinal(error, attempt),
      signal: () => this.#context.signal,
      now: () => this.#link.now(),
      setTimer: (ms, call) => this.#link.setTimer(ms, call),
      afterTurn: this.#link.afterTurn ?? setImmediate,
      watch: (call) => (this.#link.replay?.always ? systemClock : this.#link).setTimer(CHANGED_AFTER_MS, call),
      planned: this.#link.replay?.planned,
      known: (isAny) => this.#held.end(!isAny),
      recorded: () => {
        this.#context.noteResult()
        if (this.#link.replay?.always) this.leave()
      },
      end: (error) => this.#end(error),
    })
    this.#held.wait()
    return replay
  }

  /** Returns true if a step is not tried again. A handler that asks for another end, or that is told to stop, has no failure. */
  #isFinal(error: unknown, attempt: number): boolean {
    const { aborted, ending, grant } = this.#context
    if (ending !== undefined || isErrorOf(error, 'CancelJobError')) return false
    if (isErrorOf(aborted, 'WorkerStoppedError') || isErrorOf(aborted, 'LeaseLostError')) return false
    return attempt >= grant.maxAttempts || isHopeless(error)
  }

  #end(error: unknown): void {
    // In a test, a change ends the job.
    const isChange = isErrorOf(error, 'StepsChangedError') && this.#link.replay?.always !== true
    const isRequest = error instanceof WaitSignal || isChange || isErrorOf(error, 'WorkerStoppedError')
    if (isRequest) this.#context.ending = error
    this.#isAsleep = error instanceof WaitSignal
    this.#context.failed(error)
    this.#context.suspend(new RunSuspended('the run is over: a later one continues', isRequest ? undefined : { cause: error }))
  }

  /** Ends what is left of the durable calls, and returns how the run ends. */
  #over(settlement: Settlement): Settlement {
    this.#isOver = true
    const replay = this.#replay
    this.#held.end(replay?.isKnown !== true)
    if (replay === undefined) return settlement
    if (replay.close()) this.#context.suspend(new RunSuspended('the handler has returned before its step has ended'))
    return settlement.op === 'complete' && replay.unasked !== undefined ? this.#left(settlement, replay.unasked) : settlement
  }

  /** Warns that the handler has returned without a result that its job has recorded. */
  #left(settlement: Settlement, name: string): Settlement {
    const error = new StepsChangedError(undefined, name)
    const { seq, run } = this.#context.grant
    if (this.#link.replay?.always) return { op: 'fail', seq, run, error: runErrorOf(error), retry: false }
    this.#context.addLines([{ at: this.#link.now(), level: 'warn', message: error.message }])
    return settlement
  }
}
