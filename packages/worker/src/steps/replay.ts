/**
 * The durable calls of a run. A handler runs again from its beginning after each wait and each failure, and gets the results that were
 * recorded before, by their names and in the order in which they came. So it takes the same way again.
 *
 * A macrotask begins between the call of a result and its delivery, and between two deliveries, live and on replay: `#turn` delivers one
 * result, and plans the next.
 */
import {
  decodeData,
  encodeData,
  handlerErrorOf,
  isError,
  LIMITS,
  NonRetryableError,
  OptionRangeError,
  OptionTypeError,
  type RunError,
  type StepCommand,
  StepFailedError,
  type StepKind,
  StepsChangedError,
  type WaitReply,
  type WantedWait,
} from '@millrace/core'
import { runErrorOf } from '../runError.ts'
import { stepOf, within } from './inStep.ts'
import { type Asked, type Entry, type ExpectedWait, Order, type Row } from './order.ts'
import { WaitSignal } from './waitSignal.ts'

/** A result that a run records. */
export type NewResult = Omit<StepCommand, 'op' | 'seq' | 'run'>

/** The results that earlier runs of the job have recorded. */
export interface Recorded {
  readonly results: readonly Row[]
  /** How often the job was retried from its start. */
  readonly generation: number
  /** Waits that are open: the handler asks for them again. */
  readonly waits: readonly ExpectedWait[]
}

/** The engine, as the durable calls of one run see it. Each call is repeated by the link for as long as the run is held. */
export interface StepsLink {
  recorded(): Promise<Recorded>
  /** Resolves once the result is committed, to its error as it is stored. */
  step(result: NewResult): Promise<RunError | undefined>
  /** `end`: the run ends with it, unless a wait is over. `settled`: the number of the last result. */
  wait(waits: readonly WantedWait[], settled: number, end: boolean): Promise<WaitReply>
}

export interface ReplayOptions {
  readonly link: StepsLink
  /** True for the first run of a job, which has recorded nothing. */
  readonly isFirst: boolean
  readonly jobId: string
  readonly attempt: number
  readonly maxDataBytes: number
  /** True for an error that ends the attempts of a step: it is recorded. Any other ends the run. */
  readonly isFinal: (error: unknown, attempt: number) => boolean
  readonly signal: () => AbortSignal
  readonly now: () => number
  /** Calls back after so many milliseconds; returns how to cancel that. */
  readonly setTimer: (ms: number, call: () => void) => () => void
  /** Calls back in a macrotask of its own. */
  readonly afterTurn: (call: () => void) => unknown
  /** Calls back when a result that is due has not been asked for for long enough; returns how to cancel that. */
  readonly watch: (call: () => void) => () => void
  /** Called when the run is about to continue, a macrotask later. */
  readonly planned?: (() => void) | undefined
  /** Called when it is known what earlier runs have recorded. */
  readonly known?: (isAny: boolean) => void
  /** Called when this run has recorded something. */
  readonly recorded?: () => void
  /** Called once, if the run ends by its durable calls: with a WaitSignal, a StepsChangedError, or the error of a step or of the engine. */
  readonly end: (error: unknown) => void
}

/** The context of a step's function. */
export interface StepContext {
  /** Aborts with the `signal` of the handler, and when the handler ends before the step. */
  readonly signal: AbortSignal
  /** The same in every attempt, and different for every step of every job: an idempotency key for the other side. */
  readonly key: string
  /** The number of the attempt, from 1. The attempts begin again with each recorded result. */
  readonly attempt: number
}

interface Call {
  readonly name: string
  readonly kind: StepKind
  /** One more than the number of the last result that the handler had got. */
  readonly asked: number
  readonly start: (call: Call) => void
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

type Outcome = Pick<NewResult, 'value'> & { readonly error?: RunError }

export class Replay {
  readonly #options: ReplayOptions
  readonly #names = new Set<string>()
  readonly #order = new Order<Call>()
  #isKnown: boolean
  #generation = 0
  /** Calls that wait until earlier results are known, or until a recorded one that is due was asked for. */
  #held: Call[] = []
  /** The number of calls that have not settled. */
  #open = 0
  /** The number of calls whose function runs, or whose result is being committed. */
  #running = 0
  readonly #waits = new Map<string, { readonly call: Call; readonly wait: WantedWait }>()
  #hasNewWait = false
  #isWaitSent = false
  /** Results that come while waits are sent: their numbers would collide. */
  readonly #unsent: (() => void)[] = []
  #hasRecorded = false
  #isPlanned = false
  #failure: { readonly error: unknown } | undefined
  #leaving: Error | undefined
  #cancelWake: (() => void) | undefined
  #watched: { readonly due: Asked; readonly cancel: () => void } | undefined
  #isDead = false

  constructor(options: ReplayOptions) {
    this.#options = options
    this.#isKnown = options.isFirst
  }

  /** True until all results that earlier runs have recorded are delivered: the handler is where one of them has been. */
  get isReplaying(): boolean {
    return !this.#isKnown || !this.#order.isDelivered
  }

  /** False until it is known what earlier runs have recorded. */
  get isKnown(): boolean {
    return this.#isKnown
  }

  /** The name of a recorded result that the handler has not asked for. */
  get unasked(): string | undefined {
    return this.#order.unasked()?.name
  }

  /** Calls the function once, and resolves to what it has returned, as JSON gives it back. */
  step(name: string, fn: (context: StepContext) => unknown): Promise<unknown> {
    return this.#call(name, 'step', (call) => void this.#run(call, () => this.#outcomeOf(call, fn)))
  }

  /** Resolves at that time, after that long, or to the data of the message. */
  wait(name: string, wait: Omit<WantedWait, 'name' | 'asked'>): Promise<unknown> {
    return this.#call(name, kindOfWait(wait), (call) => {
      if (this.#waits.size >= LIMITS.waitsPerJob) {
        this.#open--
        call.reject(tooManyWaits())
        return
      }
      this.#waits.set(name, { call, wait: { name, asked: call.asked, ...wait } })
      this.#hasNewWait = true
      this.#soon()
    })
  }

  /** Asks the engine for its open waits again: a message has come. */
  messaged(): void {
    this.#hasNewWait = true
    this.#soon()
  }

  /** Resolves to false for a job that had passed this point before it was in the code, and to true for all others. */
  changed(name: string): Promise<boolean> {
    return this.#call(name, 'change', (call) => {
      if (this.#order.missed() === undefined) void this.#run(call, async () => ({ value: 'true' }))
      else {
        this.#open--
        call.resolve(false)
      }
    }) as Promise<boolean>
  }

  /** Ends the run with this error as soon as no step runs: at once if the handler awaits a durable call, otherwise at its next one. */
  leave(error: Error): void {
    this.#leaving ??= error
    if (this.#open > 0) this.#soon()
  }

  /** Ends all calls: the run is over. None of them settles, and none leaves a result. Returns true if a step runs. */
  close(): boolean {
    this.#isDead = true
    this.#cancelWake?.()
    this.#watched?.cancel()
    return this.#running > 0
  }

  #call(name: string, kind: StepKind, start: (call: Call) => void): Promise<unknown> {
    const outer = stepOf(this)
    if (outer !== undefined)
      return refused(
        `'${name}' is asked for within the step '${outer}', which a crash would repeat as a whole: ask for it outside of steps`,
      )
    if (this.#names.has(name))
      return refused(`the handler has asked for '${name}' before: a name occurs once in a job, so put the index of a loop into it`)
    this.#names.add(name)
    return new Promise((resolve, reject) => {
      if (this.#isDead) return
      this.#open++
      const call: Call = { name, kind, asked: this.#order.delivered + 1, start, resolve, reject }
      if (this.#isKnown || this.#isLeaving) this.#admit(call)
      else {
        this.#held.push(call)
        if (this.#held.length === 1) void this.#load()
      }
    })
  }

  async #load(): Promise<void> {
    const recorded = await this.#asked(() => this.#options.link.recorded())
    if (recorded === undefined) return
    this.#generation = recorded.generation
    this.#order.add(recorded.results)
    this.#order.expect(recorded.waits)
    this.#isKnown = true
    this.#options.known?.(recorded.results.length > 0)
    for (const call of this.#held.splice(0)) this.#admit(call)
  }

  /** Returns the engine's answer; undefined if the run is over. A refusal ends the run. */
  async #asked<Answer>(ask: () => Promise<Answer>): Promise<Answer | undefined> {
    try {
      const answer = await ask()
      return this.#isDead ? undefined : answer
    } catch (error) {
      this.#end(error)
      return undefined
    }
  }

  #admit(call: Call): void {
    const entry = this.#order.named(call.name)
    const open = this.#order.ask(call.name)
    if (this.#isLeaving) this.#soon()
    else if ((entry !== undefined && entry.kind !== call.kind) || (open !== undefined && kindOfWait(open) !== call.kind))
      this.#end(new StepsChangedError(call.name, call.name))
    else if (entry !== undefined) {
      entry.call = call
      this.#soon()
    } else if (
      open === undefined &&
      (call.kind === 'change' || this.isReplaying || this.#held.length > 0 || this.#order.missed() !== undefined)
    ) {
      this.#held.push(call)
      this.#soon()
    } else {
      // Its answer may come before this macrotask has ended.
      this.#soon()
      call.start(call)
    }
  }

  /** Continues a macrotask later: until then other branches of the handler may ask for results, too. */
  #soon(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    this.#options.planned?.()
    this.#options.afterTurn(() => {
      this.#isPlanned = false
      this.#continue()
    })
  }

  /** Continues in this macrotask if nothing was asked for or delivered in it: that would have planned the next. */
  #continue(): void {
    if (!this.#isPlanned && !this.#isDead && !this.#isWaitSent) this.#turn()
  }

  /** True if the run ends as soon as no step runs. */
  get #isLeaving(): boolean {
    return this.#failure !== undefined || this.#leaving !== undefined
  }

  #turn(): void {
    // What is recorded comes first: a handler that returns with it has not failed.
    const recorded = this.#leaving === undefined && this.#failure !== undefined ? this.#order.next() : undefined
    if (recorded !== undefined) {
      this.#deliver(recorded, recorded.call as Call)
      this.#soon()
      return
    }
    if (this.#isLeaving) {
      if (this.#running === 0 && this.#open > 0) this.#end(this.#failure === undefined ? this.#leaving : this.#failure.error)
      return
    }
    if (!this.#isKnown) return
    this.#startHeld()
    const entry = this.#order.next()
    if (entry !== undefined) {
      this.#deliver(entry, entry.call as Call)
      this.#soon()
    } else if (this.#waits.size > 0 && this.#held.length === 0 && (this.#running === 0 || this.#hasNewWait)) void this.#wait()
  }

  /** Starts the calls that are held, unless a result that is due has yet to be asked for. */
  #startHeld(): void {
    const due = this.#order.due()
    if (this.#held.length > 0) {
      const isFree = ({ kind }: Call) => due === undefined || kind === 'change'
      const free = this.#held.filter(isFree)
      this.#held = this.#held.filter((call) => !isFree(call))
      for (const call of free) call.start(call)
    }
    const isStuck = () => this.#order.next() === undefined && this.#order.asked() !== undefined
    this.#watch(due !== undefined && (this.#held.length > 0 || isStuck()) ? due : undefined)
  }

  /** Ends the run if this result is not asked for soon. */
  #watch(due: Asked | undefined): void {
    if (this.#watched?.due === due) return
    this.#watched?.cancel()
    this.#watched = due && {
      due,
      cancel: this.#options.watch(() => {
        const { name } = this.#held[0] ?? this.#order.asked() ?? due
        this.#end(new StepsChangedError(name, due.name))
      }),
    }
  }

  #deliver(entry: Entry<Call>, { resolve, reject }: Call): void {
    const { name, value, error } = entry
    this.#order.deliver(entry)
    this.#open--
    if (error !== undefined) reject(new StepFailedError(name, handlerErrorOf(error)))
    else
      try {
        resolve(decodeData(value))
      } catch (cause) {
        const reason = isError(cause) ? cause.message : String(cause)
        reject(new NonRetryableError(`the stored result of '${name}' is not JSON: ${reason}`, { cause }))
      }
  }

  async #run(call: Call, work: () => Promise<Outcome | undefined>): Promise<void> {
    this.#running++
    const startedAt = this.#options.now()
    let isCommitted = false
    try {
      const outcome = await work()
      if (outcome !== undefined) isCommitted = await this.#record(call, startedAt, outcome)
    } catch (error) {
      // What a handler throws may throw again as it is read.
      this.#failure ??= { error }
    }
    this.#running--
    if (isCommitted) this.#continue()
    else this.#soon()
  }

  /** Returns how a step ends; undefined if its failure ends the run. */
  async #outcomeOf({ name }: Call, fn: (context: StepContext) => unknown): Promise<Outcome | undefined> {
    const { jobId, maxDataBytes, isFinal, signal } = this.#options
    const attempt = this.#hasRecorded ? 1 : this.#options.attempt
    const context: StepContext = {
      get signal() {
        return signal()
      },
      key: this.#generation === 0 ? `${jobId}:${name}` : `${jobId}:${name}:${this.#generation}`,
      attempt,
    }
    try {
      return { value: encodeData('step', await within(this, name, () => fn(context)), maxDataBytes) }
    } catch (error) {
      if (isFinal(error, this.#hasRecorded ? 1 : attempt)) return { value: null, error: runErrorOf(error) }
      this.#failure ??= { error }
      return undefined
    }
  }

  /** Returns true once the result is committed; false if the run is over. */
  async #record(call: Call, startedAt: number, outcome: Outcome): Promise<boolean> {
    if (this.#isWaitSent) await new Promise<void>((resolve) => this.#unsent.push(resolve))
    if (this.#isDead) return false
    const { name, asked, kind } = call
    const number = this.#order.settled + 1
    const result: NewResult = { startedAt, number, asked, name, kind: kind as NewResult['kind'], ...outcome }
    const entry = this.#order.push(result, call, false)
    try {
      entry.error = await this.#options.link.step(result)
    } catch (refusal) {
      this.#end(refusal)
    }
    if (this.#isDead) return false
    entry.isCommitted = true
    this.#noteRecorded()
    return true
  }

  #noteRecorded(): void {
    this.#hasRecorded = true
    this.#options.recorded?.()
  }

  /** Sends the waits. The run ends with them if nothing else is to be done, and none is over. */
  async #wait(): Promise<void> {
    const end = this.#running === 0
    this.#isWaitSent = true
    this.#hasNewWait = false
    this.#cancelWake?.()
    const waits = [...this.#waits.values()].map(({ wait }) => wait)
    const reply = await this.#asked(() => this.#options.link.wait(waits, this.#order.settled, end))
    if (reply === undefined) return
    this.#isWaitSent = false
    const { results, ended, next } = reply
    if (ended) {
      this.#end(new WaitSignal())
      return
    }
    this.#order.add(results, (name) => this.#waits.get(name)?.call)
    for (const { name } of results) this.#waits.delete(name)
    for (const send of this.#unsent.splice(0)) send()
    if (next !== undefined && this.#waits.size > 0)
      this.#cancelWake = this.#options.setTimer(next, () => {
        this.#hasNewWait = true
        this.#soon()
      })
    if (results.length > 0) this.#noteRecorded()
    this.#soon()
  }

  #end(error: unknown): void {
    if (this.#isDead) return
    this.close()
    this.#options.end(error)
  }
}

function tooManyWaits(): OptionRangeError {
  const limit = LIMITS.waitsPerJob
  const message = `a job has at most ${limit} open waits, those that have lost a race included: let some end before it asks for others`
  return new OptionRangeError('waits', limit, message)
}

function kindOfWait({ message }: Pick<WantedWait, 'message'>): StepKind {
  return message === undefined ? 'sleep' : 'message'
}

function refused(message: string): Promise<never> {
  return Promise.reject(new OptionTypeError('name', message))
}
