/**
 * A worker's session over a Port: takes grants, runs handlers, settles. It does not know what is behind the Port. It
 * holds each run until its outcome is answered: after any break, it names those runs when it attaches again, and repeats
 * their outcomes.
 */
import {
  CodecError,
  type CommandOf,
  EngineStoppedError,
  type Grant,
  isErrorOf,
  leaseMs,
  type MillraceError,
  type Notice,
  NumberMap,
  type Operation,
  type OptionRangeError,
  type ParentsPage,
  type ReplyOf,
  type RunError,
  type RunKey,
  type StopOptions,
  validateStopOptions,
} from '@millrace/core'
import { ENDED, STARTED, tellEnded, tellStarted } from './channels.ts'
import { newSessionId } from './clock.ts'
import { Complaints } from './complaints.ts'
import { keyOf, RunContext, type RunLink } from './context.ts'
import { Departure } from './departure.ts'
import { execute } from './execute.ts'
import { FailureLog } from './failureLog.ts'
import { Intake, type IntakeState } from './intake.ts'
import { introOf } from './intro.ts'
import { type Pause, pause } from './pause.ts'
import { lost, reasonOf } from './reasons.ts'
import { Redactor } from './redact.ts'
import { Reports } from './reports.ts'
import type { Run } from './run.ts'
import { runErrorOf } from './runError.ts'
import { makeRunnables, type Runnables } from './runnables.ts'
import type { SessionOptions } from './sessionOptions.ts'
import { isOver, type Outcome, type Settlement } from './settlement.ts'
import { stepsLink } from './steps/link.ts'

/** The time before an outcome is repeated, after an answer that leaves it open. */
const SAY_AGAIN_MS = 250
const DISPUTED =
  "other defaults than this worker's are in force for some of its job names: make them agree with those of the other workers, or use a token that is not bound to queues"

export class WorkerSession {
  /** The worker's public name. */
  readonly id: string
  readonly session: string
  readonly #options: SessionOptions
  readonly #runnables: Runnables
  readonly #runs = new NumberMap<Run>()
  readonly #link: RunLink
  readonly #redactor: Redactor | undefined
  readonly #reports: Reports
  readonly #failureLog: FailureLog | undefined
  readonly #complaints: Complaints
  readonly #ready = Promise.withResolvers<void>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #departure: Departure
  readonly #intake: Intake
  #draining = false
  #abandoned = false
  #attaching = false
  #attachAgain = false
  /** The pause from a postponed attach to the next. The engine may not know the session meanwhile, so outcomes wait. */
  #pause: Pause | undefined
  #stopping: Promise<void> | undefined
  #zombies = 0

  constructor(options: SessionOptions) {
    this.#options = options
    this.session = newSessionId()
    this.id = options.settings.id ?? `worker-${newSessionId().slice(0, 8)}`
    const { clock, maxDataBytes, logger } = options
    const redact = options.settings.redact ?? options.redact
    this.#redactor = redact && new Redactor(redact, logger)
    this.#reports = new Reports(options.calls, this.#redactor, (context) => this.#runs.get(context.grant.seq)?.context === context)
    this.#complaints = new Complaints(this.#redactor, logger, this.id)
    this.#failureLog = logger && new FailureLog(logger, clock, this.id)
    this.#link = {
      maxDataBytes,
      heartbeat: async (context) => void (await this.#insist(context, { op: 'heartbeat', ...keyOf(context) })),
      checkpoint: async (context, value) => void (await this.#insist(context, { op: 'checkpoint', ...keyOf(context), value })),
      parents: (context, after, until) =>
        this.#insist(context, { op: 'parents', ...keyOf(context), after, ...(until !== undefined && { until }) }) as Promise<ParentsPage>,
      dirty: (context) => this.#reports.note(context),
      complained: (context, mistake, message) => this.#complaints.tell(context, mistake, message),
      now: () => clock.read().wall,
      setTimer: (ms, call) => clock.setTimer(ms, call),
      afterTurn: clock.afterTurn,
      steps: (context) =>
        stepsLink(
          keyOf(context),
          (command) => this.#insist(context, command),
          (error) => this.#redacted(context.grant.name, error),
        ),
      replay: options.replay,
    }
    this.#departure = new Departure({
      calls: options.calls,
      clock,
      session: this.session,
      isEmpty: () => this.#runs.size === 0,
      isSettled: () => this.#runs.values().every(({ settlement }) => settlement !== undefined),
      abort: () => {
        for (const run of this.#runs.values()) this.#abort(run, reasonOf('stop', run.context.grant))
      },
    })
    this.#intake = new Intake(options.calls, clock, this.session, options.settings, () => this.#departure.isLeaving)
    this.#runnables = makeRunnables(options.handlers, options.settings, this.#link, clock)
    // Nobody has to ask for it.
    this.#ready.promise.catch(() => {})
  }

  /** The number of jobs that it runs, or whose outcome is not answered yet. */
  get running(): number {
    return this.#runs.size
  }

  /** Resolves when the engine has accepted it; rejects if it is refused or stops before that. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  /** Resolves when the session has stopped, for whatever reason. */
  get stopped(): Promise<void> {
    return this.#ended.promise
  }

  /** @internal The moment, on its clock, after which its stop waits for no answer. */
  get deadlineMono(): number {
    return this.#departure.deadlineMono
  }

  /** The number of runs that have ignored their abort for the whole grace and still run. */
  get zombies(): number {
    return this.#zombies
  }

  /** Reports to the engine what this session serves and holds: at the start, and again after any break. */
  attach(): void {
    // After a leave that is under way, it would be a session without a worker.
    if (!this.#departure.isLeaving) this.#attachNow()
  }

  /** Attaches by another connection, on which nothing else counts before. It is not postponed, and goes before an unanswered leave. */
  reopened(): void {
    this.#pause?.end()
    this.#attachNow()
  }

  #attachNow(): void {
    this.#attachAgain = true
    if (!this.#attaching) void this.#attach()
  }

  async #attach(): Promise<void> {
    const { calls, clock, logger } = this.#options
    this.#attaching = true
    let isOver = false
    try {
      // A break after the answer requires another round.
      while (this.#attachAgain && !this.#departure.hasLeft) {
        this.#attachAgain = false
        const runs = this.#runs.values().map(({ context }) => keyOf(context))
        const held = runs.sort((one, other) => one.seq - other.seq)
        const session = introOf(this.#options, this.session, this.id, this.#intake)
        const { lost, disputed = [] } = await calls.call<'attach'>({ op: 'attach', session, held })
        if (disputed.length > 0) logger?.warn(DISPUTED, { worker: this.id, names: disputed.join(', ') })
        // This answer covers all that asked for it before. Another round would name the runs of then, not those that were
        // handed out since and are on their way: they would be given back, and run twice.
        this.#attachAgain = false
        for (const key of lost) this.#lose(key)
        this.#ready.resolve()
      }
      this.#attaching = false
      isOver = true
      // Not part of the attach: it may wait for another connection, by which this session has to attach first.
      if (this.#draining) await calls.call<'drain'>({ op: 'drain', session: this.session })
    } catch (error) {
      // The drain failed: another round is under way, and repeats it.
      if (isOver && this.#attaching) return
      if (isErrorOf(error, 'MillraceError') && error.retryable) {
        // Until then, no notice causes another attach: otherwise workers whose refusals make all others attach would never pause.
        this.#attaching = true
        this.#pause = pause(clock, SAY_AGAIN_MS, () => {
          this.#pause = undefined
          this.#attaching = false
          this.attach()
        })
        return
      }
      this.#attaching = false
      this.#ready.reject(error)
      if (!this.#draining) logger?.error('a worker could not attach to its engine', { worker: this.id, error: String(error) })
    }
  }

  take(given: Grant): void {
    const runnable = this.#runnables.byName.get(given.name)
    if (this.#draining || this.#intake.paused || runnable === undefined) {
      this.#say({ op: 'giveBack', seq: given.seq, run: given.run })
      return
    }
    // Its next run is here before this session has learned that the last one is lost, or answered.
    const former = this.#runs.get(given.seq)
    if (former !== undefined) this.#drop(former)
    const opened = this.#options.open === undefined ? given : this.#opened(given)
    const unread = opened !== given && isErrorOf(opened, 'CodecError') ? opened : undefined
    const grant = unread === undefined ? (opened as Grant) : { ...given, data: null, checkpoint: null }
    const begun = { settlement: undefined, checkpoint: undefined, cancelGrace: undefined, zombie: false, lapsed: false }
    const run: Run = { context: new RunContext(grant, this.#link), runnable, ...begun }
    this.#runs.set(grant.seq, run)
    if (STARTED.hasSubscribers) tellStarted(grant, this.id)
    if (unread !== undefined) {
      this.#settled(run, { op: 'fail', seq: grant.seq, run: grant.run, error: runErrorOf(unread), retry: false })
    } else execute(runnable, run.context, this.#options.maxDataBytes, (settlement) => this.#settled(run, settlement))
  }

  #opened(grant: Grant): Grant | CodecError {
    try {
      return this.#options.open?.(grant) ?? grant
    } catch (error) {
      return isErrorOf(error, 'CodecError') ? error : new CodecError(String(error), {}, { cause: error })
    }
  }

  notice(notice: Extract<Notice, { session: string }>): void {
    if (notice.kind === 'lost') this.#lose(notice)
    else if (notice.kind === 'stop') void this.stop({ timeout: notice.timeout })
    else {
      const run = this.#find(notice)
      if (run === undefined) return
      if (notice.kind === 'messaged') {
        run.context.messaged()
        run.runnable.messaged?.(run.context)
      } else this.#abort(run, reasonOf(notice.cause, run.context.grant, notice))
    }
  }

  get paused(): boolean {
    return this.#intake.paused
  }

  /** Changes how much it takes. Resolves when no job comes that the change excludes; jobs whose handlers wait to be called are given back. */
  async adjust(changes: Partial<IntakeState>): Promise<void> {
    const hold = () => this.#runnables.hold(this.#draining || this.#intake.paused)
    // Before the jobs that go back, so that they do not come again.
    const applied = this.#intake.change(changes)
    hold()
    await applied.finally(hold)
  }

  /** Ends the runs that the engine may have given to others, since it may not have heard of this worker for `ms` milliseconds. */
  lapsed(ms: number): void {
    for (const run of this.#runs.values()) {
      if (run.settlement !== undefined || leaseMs(run.context.grant.heartbeatTimeout) > ms) continue
      run.lapsed = true
      this.#drop(run)
    }
  }

  /** See `Worker.stop`. */
  stop(options?: StopOptions): Promise<void> {
    const timeoutMs = validateStopOptions(options)
    if (this.#stopping === undefined) this.#stopping = this.#stop(timeoutMs)
    else if (Number.isFinite(timeoutMs)) this.#departure.hurryAfter(timeoutMs, this.stopped)
    return this.#stopping
  }

  /** Handles the permanent end of the engine: running jobs are aborted, and the worker stops as soon as they have ended. */
  abandon(reason: Error): void {
    this.#abandoned = true
    for (const run of this.#runs.values()) this.#abort(run, reason)
    this.#departure.hurry()
    void this.stop({ timeout: 0 })
  }

  async #stop(timeoutMs: number): Promise<void> {
    this.#draining = true
    this.#runnables.hold(true)
    for (const { context, runnable } of this.#runs.values()) {
      context.leave()
      runnable.leave?.(context)
    }
    await this.#departure.drain(timeoutMs, this.#options.settings.abortGraceMs)
    const { leftMs } = this.#departure
    await Promise.all([this.#departure.leave(), Promise.allSettled(this.#runnables.pools.map((pool) => pool.close(leftMs)))])
    this.#ready.reject(new EngineStoppedError('the worker stopped before the engine accepted it'))
    this.#ended.resolve()
  }

  #settled(run: Run, reached: Settlement): void {
    const { name } = run.context.grant
    const settlement = reached.op === 'fail' ? { ...reached, error: this.#redacted(name, reached.error) } : reached
    run.cancelGrace?.()
    if (run.zombie) this.#zombies--
    this.#reports.finish(run.context)
    run.settlement = settlement
    this.#departure.changed?.()
    if (settlement.op === 'asleep') this.#forget(run)
    else if (!this.#isReplaced(run.context)) this.#sayOutcome(run, settlement)
  }

  #redacted(name: string, error: RunError): RunError {
    return this.#redactor?.error(name, error) ?? error
  }

  /** True if another run of the same number has its place: the store has lost the commit of its start. What it says would count for the other. */
  #isReplaced(context: RunContext): boolean {
    const current = this.#runs.get(context.grant.seq)?.context
    return current !== undefined && current !== context && current.grant.run === context.grant.run
  }

  #sayOutcome(run: Run, settlement: Outcome): void {
    if (this.#pause !== undefined) {
      void this.#pause.over.then(() => this.#sayOutcome(run, settlement))
      return
    }
    this.#options.calls.call(settlement).then(
      () => this.#forget(run, settlement),
      (error) => this.#unanswered(run, settlement, error),
    )
  }

  #unanswered(run: Run, settlement: Outcome, error: unknown): void {
    if (!(isErrorOf(error, 'MillraceError') || isErrorOf(error, 'OptionRangeError'))) throw error
    if (error.retryable) {
      this.#options.clock.setTimer(SAY_AGAIN_MS, () => {
        if ((this.#runs.get(run.context.grant.seq) ?? (run.lapsed ? run : undefined)) === run) this.#sayOutcome(run, settlement)
      })
    } else if (this.#abandoned || isOver(settlement, error)) this.#forget(run)
    else this.#refused(run, settlement, error)
  }

  /** Fails a run whose outcome was refused, with everything that came with it. */
  #refused(run: Run, settlement: Outcome, error: MillraceError | OptionRangeError): void {
    const { seq, run: number } = settlement
    if (settlement.op === 'fail' && settlement.retry === undefined) {
      // There is no simpler outcome. Held, the run ends at its deadline; forgotten, it would be given back, and run again at once.
      this.#options.logger?.error('the outcome of a run was refused', { worker: this.id, job: run.context.job.id, error: error.message })
      return
    }
    run.settlement = {
      op: 'fail',
      seq,
      run: number,
      error: settlement.op === 'fail' ? settlement.error : runErrorOf(error),
      // An outcome that cannot be encoded, or is too large, will be so again.
      ...((isErrorOf(error, 'CodecError') || isErrorOf(error, 'OptionRangeError')) && { retry: false as const }),
    }
    this.#sayOutcome(run, run.settlement)
  }

  /** Forgets a run. `settlement` is its committed outcome; without it, the run is lost. */
  #forget(run: Run, settlement?: Settlement): void {
    const { grant } = run.context
    if (this.#runs.get(grant.seq) === run) {
      this.#runs.delete(grant.seq)
      if (ENDED.hasSubscribers) tellEnded(grant, this.id, settlement)
    }
    // Also if the next attempt has its place already: that may be handed out before this answer is heard.
    if (settlement?.op === 'fail') this.#failureLog?.tell(run.context, settlement)
    this.#departure.changed?.()
  }

  #lose(key: RunKey): void {
    const run = this.#find(key)
    if (run !== undefined) this.#drop(run)
  }

  #drop(run: Run): void {
    run.cancelGrace?.()
    if (run.settlement === undefined) {
      run.context.abort(run.context.aborted ?? lost())
      if (run.runnable.kill?.(run.context) !== true) this.#haunt(run)
    }
    this.#forget(run)
  }

  #abort(run: Run, reason: Error): void {
    if (run.settlement !== undefined || run.context.aborted !== undefined) return
    run.context.abort(reason)
    run.runnable.abort?.(run.context, reason)
    run.cancelGrace = this.#options.clock.setTimer(this.#options.settings.abortGraceMs, () => {
      if (run.runnable.kill?.(run.context) !== true) this.#haunt(run)
    })
  }

  #haunt(run: Run): void {
    if (run.zombie) return
    run.zombie = true
    this.#zombies++
    this.#options.logger?.warn('a handler has ignored its abort signal for the whole grace, and may still run', {
      worker: this.id,
      job: run.context.job.id,
      run: run.context.grant.run,
    })
  }

  #find({ seq, run }: RunKey): Run | undefined {
    const found = this.#runs.get(seq)
    return found?.context.grant.run === run ? found : undefined
  }

  /** Repeats the command if the answer leaves it open: a writer that restarts is no reason for a handler to fail. */
  async #insist<Op extends 'heartbeat' | 'checkpoint' | 'parents' | 'recorded' | 'step' | 'wait'>(
    context: RunContext,
    command: CommandOf<Op>,
  ): Promise<ReplyOf[Op]> {
    if (this.#isReplaced(context)) throw context.aborted ?? lost()
    const { calls, clock } = this.#options
    const run = this.#find(command as RunKey)
    const { op } = command as CommandOf<Operation>
    const checkpoint = op === 'checkpoint' ? (command as CommandOf<'checkpoint'>) : undefined
    if (run !== undefined && checkpoint !== undefined) run.checkpoint = checkpoint
    for (;;) {
      while (this.#pause !== undefined) await this.#pause.over
      try {
        return await calls.call<Op>(command)
      } catch (error) {
        if (!(isErrorOf(error, 'MillraceError') && error.retryable)) throw error
        await new Promise<void>((resolve) => clock.setTimer(SAY_AGAIN_MS, resolve))
        if (run === undefined || run.context.aborted !== undefined) throw error
        // A later value was sent meanwhile, which this one would undo.
        if (checkpoint !== undefined && run.checkpoint !== checkpoint) throw error
      }
    }
  }

  #say<Op extends Operation>(command: CommandOf<Op>): void {
    this.#options.calls.call(command).catch(() => {})
  }
}
