/**
 * What was asked of the engine and what it has answered: every request once, in order, after its commit, and truly. The model says
 * what is true.
 */

import {
  ACTIVE,
  type AttachReply,
  CANCELLED,
  type CancelManyCommand,
  COMPLETED,
  type Command,
  type DeleteManyCommand,
  type Delivery,
  FAILED,
  type ForwardCommand,
  type Forwarded,
  formatId,
  isFinal,
  isLive,
  isQuestion,
  type JobKey,
  type JobView,
  type KeyedCall,
  type NewJob,
  type OnParentFailure,
  type ParentsPage,
  type Reply,
  type Request,
  type RetryManyCommand,
  type RunNowManyCommand,
  type SessionIntro,
  type Slice,
  STATES,
  type UpdateManyCommand,
  type WaitReply,
} from '@millrace/core'
import { LATE, SNOOZE_MS, UNWANTED } from './handlers.ts'
import type { History } from './history.ts'
import { Labels } from './labels.ts'
import { messageIn } from './messageBook.ts'
import { type Model, numberOf, type Tracked } from './model.ts'
import { placeOf } from './pauses.ts'

/** The numbers of those that a connection was answered last. */
interface LastAnswered {
  readonly command: number
  readonly question: number
}

type Seen = Pick<JobView, 'state' | 'run' | 'attempt' | 'lostRuns' | 'cancellation'>

interface Join {
  readonly name: string
  readonly numbers: readonly number[]
}

interface Asked {
  readonly command: Command
  /** By arrival. */
  readonly number: number
  readonly atMono: number
}

/** Those that are answered when there is something to say. */
const PATIENT = new Set(['watch', 'events', 'export', 'drainQueue', 'backup', 'list'])
/** Questions that a turn answers in their place among its commands. */
const AMONG_COMMANDS = new Set(['subscribe', 'unwatch'])
/** Refusals after which nothing of the call has happened. */
const DEFINITE = new Set(['DISK_FULL', 'STORAGE', 'STORAGE_BUSY', 'UNIQUE_CONFLICT', 'JOB_ACTIVE', 'JOB_FINISHED', 'INTERNAL', 'BUSY'])

/** Refusals of a join that was looked at: its run is still the current one. */
const UNDONE = new Set(['QUEUE_FULL', 'QUEUE_DRAINING', 'OPTION_RANGE'])

function isMeant({ filter, ids }: Many, { id, name, queue }: Pick<Tracked, 'id' | 'name' | 'queue'>): boolean {
  return (
    (filter.name ?? name) === name && (filter.queue ?? queue) === queue && (ids === undefined || ids.some((key) => formatId(key) === id))
  )
}

type Many = CancelManyCommand | RetryManyCommand | DeleteManyCommand | RunNowManyCommand | UpdateManyCommand

export class Requests {
  /** Calls whose enqueue was refused for certain, by number. */
  readonly refused = new Set<number>()
  redriven = false
  /** What the jobs of flows wait for, by the numbers of their calls. */
  readonly waitFor = new Map<number, { readonly parents: readonly number[]; readonly onParentFailure: OnParentFailure }>()
  /** The numbers of jobs that runs have asked to wait for. */
  readonly joinable = new Set<number>()
  model: Model | undefined
  readonly #history: History
  #received = 0
  readonly #open = new Map<string, Map<number, Asked>>()
  readonly #lastAnswered = new Map<string, LastAnswered>()
  readonly #said = new Set<string>()
  readonly #asked = new Set<string>()
  readonly #many: Many[] = []
  readonly #pauses = new Map<string, ReadonlySet<number>>()
  readonly #resumes = new Set<string>()
  /** What was said of cancels, by the id of their job; empty strings of those that said nothing. */
  readonly #reasons = new Map<string, Set<string>>()
  /** Runs whose handlers cancel their jobs. */
  readonly #cancelled = new Set<string>()
  readonly #retries = new Map<string, number | false | undefined>()
  readonly #completed = new Map<string, boolean>()
  /** What runs end with, of those that join others: the numbers of those. */
  readonly #joins = new Map<string, Join>()
  /** Refused entries of journals that no offset has passed yet: their places by source. */
  readonly #refusedEntries = new Map<string, number>()
  readonly #unsayable = new Set<string>()
  /** When the engine last refused the outcome of a run for the time being; monotonic. */
  readonly #putOff = new Map<string, number>()
  /** Of jobs that are enqueued by a name that may be defined after them, by number: what the call has stated. */
  readonly late = new Map<number, NewJob>()
  /** By which connection each session has attached last. */
  readonly #holders = new Map<string, string>()
  /** Connections that hold no run, whatever they say of any. */
  readonly strangers = new Set<string>()
  /** Schedules whose ticks may cancel the job of an earlier one. */
  readonly #overlaps = new Map<string, boolean>()
  /** Schedules whose jobs may have come beside each other, if only for a part of a turn. */
  readonly #allowing = new Set<string>()
  /** A session names itself, or goes. */
  attached: (session: SessionIntro, connection: string, sentMono: number) => void = () => {}
  attachAnswered: (session: string) => void = () => {}
  /** The connection's sessions live, as a turn of that time has counted. */
  counted: (connection: string, mono: number) => void = () => {}
  /** When the last turn began. */
  turnMono = 0
  left: (session: string) => void = () => {}
  /** The worker of that name is told to stop, as whoever asked has heard. */
  stopped: (worker: string) => void = () => {}
  /** Whether a session may get jobs. */
  /** The tags of jobs. */
  readonly labels = new Labels()
  mayTake: (session: string) => boolean = () => true
  /** Whether a job has got that message. */
  isStored: (seq: number, value: string) => boolean = () => true
  /** Whether a job has that result. */
  isRecorded: (seq: number, number: number) => boolean = () => true
  /** Whether a producer has taken note that its entry at a place was refused. */
  noted: (entry: string) => boolean = () => true

  constructor(history: History) {
    this.#history = history
  }

  /** A request has reached the engine. */
  received(connection: string, requests: readonly Request[], sentMono: number): void {
    const open = this.#open.get(connection) ?? new Map<number, Asked>()
    this.#open.set(connection, open)
    for (const { id, command } of requests) {
      open.set(id, { command, number: ++this.#received, atMono: this.#history.mono })
      if (!this.strangers.has(connection)) this.#note(command, connection, sentMono)
    }
  }

  /** The connection is no more: what is open on it is answered by nobody. */
  dropped(connection: string): void {
    this.#open.delete(connection)
  }

  droppedAll(): void {
    this.#open.clear()
  }

  /** Requests of living connections that wait for their answer. */
  get unanswered(): string[] {
    return [...this.#open].flatMap(([connection, open]) =>
      [...open].filter(([, { command }]) => !PATIENT.has(command.op)).map(([id, { command }]) => `${connection}#${id} ${command.op}`),
    )
  }

  said(op: string, seq: number, run: number): boolean {
    return this.#said.has(`${op}:${seq}:${run}`)
  }

  /** By name, or among many. */
  asked(op: KeyedCall, { id, name, queue, firstKey }: Pick<Tracked, 'id' | 'name' | 'queue' | 'firstKey'>): boolean {
    if (this.#asked.has(`${op}:${id}`) || this.#asked.has(`${op}:${name}:${firstKey}`)) return true
    return this.#many.some((many) => many.op === `${op}Many` && isMeant(many, { id, name, queue }))
  }

  /** The handler of that run cancels its job. */
  cancels(seq: number, run: number): boolean {
    return this.#cancelled.has(`${seq}:${run}`)
  }

  /** Whether a cancel of that job, or of many, has said so: undefined if it has said nothing. */
  saidWhy(job: Tracked, reason: string | undefined): boolean {
    if (reason === UNWANTED) return this.cancels(job.seq, job.run)
    for (const named of [job.id, `${job.name}:${job.firstKey}`]) if (this.#reasons.get(named)?.has(reason ?? '') === true) return true
    return this.#many.some((many) => many.op === 'cancelMany' && many.reason === reason && isMeant(many, job))
  }

  askedTree(op: 'cancelTree' | 'retryTree', id: string): boolean {
    return this.#asked.has(`${op}:${id}`)
  }

  /** The lengths of the timed pauses that somebody has asked for, by command or from a handler. */
  pausesOf(place: string): Set<number> {
    return new Set([...(this.#pauses.get(place) ?? []), SNOOZE_MS])
  }

  askedToResume(place: string): boolean {
    return this.#resumes.has(place)
  }

  askedOf(op: 'deleteSchedule' | 'triggerSchedule' | 'upsertSchedule', schedule: string): boolean {
    return this.#asked.has(`${op}:${schedule}`)
  }

  /** True if somebody may have given the job another priority. */
  mayBeMoved(job: JobKey): boolean {
    const tracked = this.model?.find(job)
    return tracked === undefined || this.asked('update', tracked)
  }

  /** True if jobs of that schedule may have come beside each other. */
  mayAllow(schedule: string): boolean {
    return this.#allowing.has(schedule)
  }

  /** Whether a tick of that schedule may cancel the job of an earlier one. */
  mayCancel(schedule: string | undefined): boolean {
    return schedule !== undefined && this.#overlaps.get(schedule) === true
  }

  /** The engine can write no outcome of that run: its worker holds it until its deadline, which is its end. */
  unsayable(seq: number, run: number): boolean {
    return this.#unsayable.has(`${seq}:${run}`)
  }

  /** When the engine last refused the outcome of that run for the time being: its worker says it again. */
  putOffMono(seq: number, run: number): number {
    return this.#putOff.get(`${seq}:${run}`) ?? 0
  }

  joinOf(seq: number, run: number): Join | undefined {
    return this.#joins.get(`${seq}:${run}`)
  }

  retryOf(seq: number, run: number): number | false | undefined {
    return this.#retries.get(`${seq}:${run}`)
  }

  /** The engine hands a delivery over; what it says must be so already. */
  delivered(connection: string, { replies, grants, events, notices }: Delivery): void {
    const model = this.model as Model
    for (const reply of replies) this.#reply(connection, reply, model)
    for (const { session, seq, run, attempt } of grants) {
      const job = model.jobs.get(seq)
      const so = job !== undefined && job.state === ACTIVE && job.run === run && run - job.uncounted === attempt
      this.#history.hold(so, 3, () => `run ${run} of job ${seq} is handed out, and its start is not committed`)
      this.#history.hold(this.mayTake(session), 44, () => `run ${run} of job ${seq} is handed to a worker that was told to stop`)
    }
    for (const { seq, type } of events)
      this.#history.hold(seq < model.nextEvent, 3, () => `event ${seq} (${type}) is told, and is not committed`)

    for (const notice of notices) {
      if (notice.kind === 'abort' && notice.cause === 'timeout') model.timedOut(notice, this.#history.mono)
      if (notice.kind === 'abort' && notice.cause === 'cancel') model.toldToCancel(notice)
      if (notice.kind !== 'lost') continue
      const job = model.jobs.get(notice.seq)
      const ended = job === undefined || job.state !== ACTIVE || job.run !== notice.run
      this.#history.hold(ended, 3, () => `run ${notice.run} of job ${notice.seq} is told to be lost, and goes on`)
      this.#history.meet('lostTold')
    }
  }

  #note(command: Command, connection: string, sentMono: number): void {
    this.labels.asked(command)
    switch (command.op) {
      case 'enqueue':
      case 'forward': {
        const jobs = command.op === 'enqueue' ? command.jobs : command.entries.flatMap((entry) => entry.jobs)
        for (const job of jobs) if (job.name === LATE.name) this.late.set(numberOf(job.data), job)
        break
      }
      case 'join': {
        const { op, seq, run, name, jobs } = command
        const numbers = jobs.map(({ data }) => numberOf(data))
        this.#joins.set(`${seq}:${run}`, { name, numbers })
        for (const number of numbers) this.joinable.add(number)
        this.#said.add(`${op}:${seq}:${run}`)
        break
      }
      case 'byKey':
        this.#asked.add(`${command.call}:${command.of.name}:${command.of.key}`)
        this.#noteReason(`${command.of.name}:${command.of.key}`, command.reason)
        break
      case 'cancel':
      case 'cancelTree':
      case 'retry':
      case 'retryTree':
      case 'delete':
      case 'update':
      case 'runNow':
        this.#asked.add(`${command.op}:${formatId(command.id)}`)
        if (command.op === 'cancel' || command.op === 'cancelTree') this.#noteReason(formatId(command.id), command.reason)
        break
      case 'redrive':
        this.redriven = true
        break
      case 'cancelMany':
      case 'retryMany':
      case 'deleteMany':
      case 'runNowMany':
      case 'updateMany':
        if (!command.dryRun) this.#many.push(command)
        break
      case 'deleteSchedule':
      case 'triggerSchedule':
        this.#asked.add(`${command.op}:${command.id}`)
        break
      case 'upsertSchedule':
        if (command.runImmediately) this.#asked.add(`${command.op}:${command.id} now`)
        if (command.spec.overlap === 'allow') this.#allowing.add(command.id)
        this.#overlaps.set(command.id, (this.#overlaps.get(command.id) ?? false) || command.spec.overlap === 'cancel')
        break
      case 'pause': {
        const { queue, job, key, paused, for: ms } = command
        const place =
          key !== undefined ? placeOf(queue, 'key', key) : job !== undefined ? placeOf(queue, 'name', job) : placeOf(queue, 'queue', '')
        if (!paused) this.#resumes.add(place)
        else if (ms !== undefined) this.#pauses.set(place, this.pausesOf(place).add(ms))
        break
      }
      case 'attach':
        this.attached(command.session, connection, sentMono)
        break
      case 'leave':
        this.left(command.session)
        break
      case 'fail':
        this.#retries.set(`${command.seq}:${command.run}`, command.retry)
        this.#said.add(`fail:${command.seq}:${command.run}`)
        if (command.cancel === true) this.#cancelled.add(`${command.seq}:${command.run}`)
        else this.#cancelled.delete(`${command.seq}:${command.run}`)
        break
      case 'heartbeat':
      case 'checkpoint':
        this.model?.mayLast(command, this.#history.mono)
        break
      default:
        if ('run' in command && 'seq' in command) this.#said.add(`${command.op}:${command.seq}:${command.run}`)
    }
  }

  #noteReason(id: string, reason = ''): void {
    const said = this.#reasons.get(id)
    if (said === undefined) this.#reasons.set(id, new Set([reason]))
    else said.add(reason)
  }

  #reply(connection: string, { id, value, refusal }: Reply, model: Model): void {
    const history = this.#history
    const open = this.#open.get(connection)
    const asked = open?.get(id)
    if (asked === undefined) {
      history.violate(4, `request ${id} of ${connection} is answered twice, or was never asked`)
      return
    }
    open?.delete(id)
    const { command } = asked
    this.labels.answered(command, refusal === undefined)
    if (!PATIENT.has(command.op)) this.#inOrder(connection, id, asked)
    if (this.strangers.has(connection)) this.#toStranger(command, refusal?.code, value)
    else if (refusal !== undefined) this.#refusal(command, refusal.code, connection, model)
    else {
      if (command.op === 'attach') this.#holders.set(command.session.uuid, connection)
      if (command.op === 'attach' || command.op === 'renew') this.counted(connection, this.turnMono)
      this.#answer(command, value, model, asked.atMono)
    }
  }

  /** A turn that has no time for a question puts it off: later commands pass it, later questions do not. It passes nothing itself. */
  #inOrder(connection: string, id: number, { command: asked, number }: Asked): void {
    const { command, question } = this.#lastAnswered.get(connection) ?? { command: 0, question: 0 }
    const mayBePassed = isQuestion(asked) && !AMONG_COMMANDS.has(asked.op)
    const last = mayBePassed ? question : Math.max(command, question)
    this.#history.hold(number > last, 4, () => `request ${id} of ${connection} is answered after one that came later`)
    if (mayBePassed && number < command) this.#history.meet('questionPassed')
    this.#lastAnswered.set(connection, mayBePassed ? { command, question: number } : { command: number, question })
  }

  #refusal(command: Command, code: string, connection: string, model: Model): void {
    const history = this.#history
    history.meet(`refused ${code}`)
    if ((code === 'QUEUE_DRAINING' || code === 'QUEUE_FULL') && (command.op === 'complete' || command.op === 'join'))
      this.#putOff.set(`${command.seq}:${command.run}`, history.mono)
    if (code === 'INTERNAL') {
      // One statement's error is one command's fault, and the simulator makes some.
      if (command.op === 'fail') this.#unsayable.add(`${command.seq}:${command.run}`)
      history.hold(history.met['statementError'] !== undefined, 4, () => `${command.op} is refused as INTERNAL`)
    }
    if ((command.op === 'enqueue' || command.op === 'flow') && DEFINITE.has(code)) {
      for (const { data } of command.op === 'flow' ? command.nodes.map(({ job }) => job) : command.jobs) {
        const number = numberOf(data)
        history.hold(!model.numbers.has(number), 6, () => `the enqueue of call ${number} is refused as ${code}, and has happened`)
        this.refused.add(number)
      }
    }
    if (command.op === 'join' && UNDONE.has(code)) {
      history.meet('joinRefused')
      for (const number of command.jobs.map(({ data }) => numberOf(data)))
        history.hold(!model.numbers.has(number), 6, () => `the join of call ${number} is refused as ${code}, and has happened`)
    }
    if (command.op === 'send' && (code === 'JOB_FINISHED' || code === 'MESSAGES_FULL')) {
      const { id, value: sent, idempotencyKey } = command
      const job = id && model.find(id)
      // Without a key it may be a repeat of one that was stored.
      const so = job === undefined || idempotencyKey === undefined || !this.isStored(job.seq, messageIn(sent))
      history.hold(so, 62, () => `the message ${messageIn(sent)} to job ${job?.seq} is refused as ${code}, and was stored`)
    }
    if (code === 'JOB_NOT_FOUND' && 'id' in command && typeof command.id === 'object') {
      const { id } = command
      const job = model.find(id)
      // Whoever has made the id knows it before the engine does.
      const so = job === undefined || job.bornTurn === model.turns
      history.hold(so, 1, () => `job ${formatId(id)} is said not to be there`)
    }
    if (code === 'STALE_RUN' && 'run' in command && 'seq' in command) this.#stale(command, connection, model)
  }

  #toStranger(command: Command, code: string | undefined, value: unknown): void {
    const { op } = command
    if (op === 'attach' && code === undefined) {
      const { lost } = value as AttachReply
      this.#history.hold(lost.length === command.held.length, 54, () => `a stranger has adopted runs as session ${command.session.uuid}`)
      this.#history.meet('strangerClaims')
    }
    if (!('run' in command)) return
    this.#history.hold(code !== undefined, 10, () => `${op} is accepted from a connection that does not hold the run`)
    if (code === 'STALE_RUN') this.#history.meet('strangerRefused')
  }

  #stale(command: Command & { readonly seq: number; readonly run: number }, connection: string, model: Model): void {
    const job = model.jobs.get(command.seq)
    if (job === undefined) return
    const { op, seq, run } = command
    const current = job.state === ACTIVE && job.run === run && this.#holders.get(job.session) === connection
    this.#history.hold(!current, 10, () => `${op} of run ${run} of job ${seq} is refused as stale, and is current`)
    const repeated = op === 'complete' && job.state === COMPLETED && job.run === run
    this.#history.hold(!repeated, 13, () => `the completion of run ${run} of job ${seq}, told again, is refused as stale`)
  }

  /** Each call that a job answers is told of where its queue asks for that, and the job is there. */
  #repeated({ queue = 'default' }: NewJob, model: Model, seq: number): void {
    if (model.limits.settings(queue).repeats !== 'event' || model.limits.toldNow(queue) || !model.jobs.has(seq)) return
    this.#history.hold(model.takeRepeat(seq), 25, () => `job ${seq} answers a call for ${queue}, and no event tells of it`)
  }

  /** A job that holds its key until its start answers no call after that. */
  #letGo({ unique, idempotencyKey }: NewJob, { jobs, turns }: Model, seq: number): void {
    const holder = jobs.get(seq)
    if (unique === undefined || idempotencyKey !== undefined || holder?.untilStart !== true) return
    this.#history.meet('keyUntilStart')
    const isHeld = holder.letGoTurn >= turns
    this.#history.hold(isHeld, 25, () => `a call is answered with job ${seq}, which let its unique key go as it started`)
  }

  #answer(command: Command, value: unknown, model: Model, atMono: number): void {
    const history = this.#history
    const jobOf = (seq: number): Tracked | undefined => model.jobs.get(seq)
    switch (command.op) {
      case 'enqueue':
        for (const [place, { seq, created }] of (value as readonly { readonly seq: number; readonly created: boolean }[]).entries()) {
          if (!created) {
            history.meet('keyMatched')
            this.#letGo(command.jobs[place] as NewJob, model, seq)
            this.#repeated(command.jobs[place] as NewJob, model, seq)
          } else history.hold(model.created.has(seq), 1, () => `the enqueue of job ${seq} is acknowledged, and not committed`)
        }
        break
      case 'triggerSchedule': {
        const [{ seq }] = value as readonly [{ readonly seq: number }]
        history.hold(model.created.has(seq), 1, () => `job ${seq} is said to have come of ${command.id}, and is not committed`)
        break
      }
      case 'flow': {
        const { seq, created } = value as { readonly seq: number; readonly created: boolean }
        if (!created) history.meet('flowRepeated')
        for (let place = 0; created && place < command.nodes.length; place++)
          history.hold(
            model.created.has(seq + place),
            1,
            () => `the flow of job ${seq} is acknowledged, and job ${seq + place} not committed`,
          )
        break
      }
      case 'forward':
        this.#forwarded(command, value as Forwarded, model)
        break
      case 'complete':
      case 'fail':
      case 'snooze':
      case 'join':
      case 'giveBack': {
        const { op, seq, run } = command
        const job = jobOf(seq)
        const current = job !== undefined && job.state === ACTIVE && job.run === run
        history.hold(!current, 3, () => `${op} of run ${run} of job ${seq} is acknowledged, and not committed`)
        if (op === 'snooze') history.hold(job?.ttlBackRun !== run, 18, () => `job ${seq} has started, and has its ttl again with a snooze`)
        if (op !== 'complete') break
        const told = this.#completed.has(`${seq}:${run}`)
        if (told) history.meet('completedTwice')
        this.#completed.set(`${seq}:${run}`, true)
        break
      }
      case 'heartbeat':
      case 'checkpoint':
        model.lasts(command, atMono)
        break
      case 'wait': {
        const { seq, run } = command
        const job = jobOf(seq)
        const goesOn = job !== undefined && job.state === ACTIVE && job.run === run
        const { ended } = value as WaitReply
        history.hold(!(ended && goesOn), 3, () => `run ${run} of job ${seq} is said to sleep, and goes on`)
        break
      }
      case 'step': {
        const { seq, number } = command
        const so = !model.jobs.has(seq) || this.isRecorded(seq, number)
        history.hold(so, 60, () => `result ${number} of job ${seq} is acknowledged, and not committed`)
        break
      }
      case 'send': {
        const { id, value: sent } = command
        const job = id && model.find(id)
        const so = job === undefined || this.isStored(job.seq, messageIn(sent))
        history.hold(so, 62, () => `the message ${messageIn(sent)} to job ${job?.seq} is acknowledged, and not stored`)
        if (value === 'known') history.meet('messageKnown')
        break
      }
      case 'parents':
        for (const { state, ref, ...key } of (value as ParentsPage).parents) {
          const so = model.stateOf(key.seq)
          history.hold(state === so, 3, () => `job ${command.seq} is told that job ${key.seq} (${ref}) is ${state}, and it is ${so}`)
        }
        break
      case 'cancel': {
        const job = model.find(command.id)
        if (job === undefined) break
        if (value === 'cancelling') history.meet('cancelling')
        // A later command of the same turn may have brought it back.
        if (this.asked('retry', job) || this.askedTree('retryTree', job.id) || this.redriven) break
        const so = value === 'cancelled' ? job.state === CANCELLED : job.state === CANCELLED || job.cancelRequested
        history.hold(so, 2, () => `job ${job.seq} is said to be ${String(value)}, and is in state ${job.state}`)
        break
      }
      case 'delete':
        history.hold(model.find(command.id) === undefined, 2, () => `job ${formatId(command.id)} is said to be deleted, and is there`)
        break
      case 'cancelMany':
      case 'retryMany':
      case 'deleteMany':
      case 'runNowMany':
      case 'updateMany':
        this.#slice(command, value as Slice)
        break
      case 'get':
        this.#view(command.id, value as Seen | null, model)
        break
      case 'drainQueue': {
        const left = [...model.jobs.values()].filter(({ queue, state }) => queue === command.queue && isLive(state))
        history.hold(left.length === 0, 44, () => `queue ${command.queue} is said to be drained, and job ${left[0]?.seq} is left`)
        history.meet('drained')
        break
      }
      case 'stopWorker':
        this.stopped(command.worker)
        history.meet('workerStopped')
        break
      case 'deleteQueue': {
        // A queue of that name may have come again with a later command of the same turn.
        const left = [...model.jobs.values()].filter(({ queue, bornTurn }) => queue === command.queue && bornTurn < model.turns)
        history.hold(left.length === 0, 44, () => `queue ${command.queue} is said to be deleted, and job ${left[0]?.seq} is there`)
        if (value === true) history.meet('queueDeleted')
        break
      }
      case 'watch':
        this.#outcome(command.id, (value as { readonly state: string }).state, model)
        break
      case 'stats':
        this.#stats(value as { readonly states: Readonly<Record<string, number>> }, model)
        break
      case 'attach':
        this.attachAnswered(command.session.uuid)
        for (const run of command.held) model.adopted(run)
        if ((value as { readonly lost: readonly unknown[] }).lost.length > 0) history.meet('attachLost')
        if (command.held.length > (value as { readonly lost: readonly unknown[] }).lost.length) history.meet('attachAdopts')
        break
      default:
    }
  }

  /** Up to the offset all is committed, and of what is refused nothing is. */
  #forwarded({ source, first, entries }: ForwardCommand, { mark: offset, refused }: Forwarded, model: Model): void {
    const history = this.#history
    const behind = this.#refusedEntries.get(source)
    if (behind !== undefined && offset >= behind) {
      this.#refusedEntries.delete(source)
      // Tried again, it may have been taken.
      const so = this.noted(`${source} ${behind}`) || first <= behind
      history.hold(so, 1, () => `the offset of ${source} passes its entry at ${behind}, which was refused, and nobody has taken note`)
    }
    if (refused !== undefined) this.#refusedEntries.set(source, refused.place)
    let place = first
    for (const { jobs } of entries) {
      for (const [index, { data, idempotencyKey, unique, debounce, throttle }] of jobs.entries()) {
        const number = numberOf(data)
        const there = model.numbers.has(number)
        if (place === refused?.place) {
          history.meet('entryRefused')
          // A sender that was closed meanwhile has a successor, whose sending of the same entry the same turn may have taken.
          const before = there && !model.newNumbers.has(number)
          history.hold(!before, 6, () => `the journaled call ${number} is refused, and has happened`)
        } else if (place + index <= offset && (idempotencyKey ?? unique ?? debounce ?? throttle) === undefined) {
          // What its process has taken note of as refused is not sent again: a gap, and no entry of this call.
          history.hold(there, 1, () => `the offset ${offset} passes the journaled call ${number}, and it is not committed`)
        }
      }
      place += jobs.length
    }
    history.meet(offset >= place - 1 ? 'forwarded' : 'forwardedInPart')
  }

  #slice({ op, limit, before, dryRun }: Many, { matched, changed, skipped, next }: Slice): void {
    const { notFound = 0, ...others } = skipped
    const told = Object.values(others).reduce((sum, count) => sum + count, 0)
    this.#history.hold(matched === changed + told, 2, () => `${op} says ${matched} matched, ${changed} changed and ${told} skipped`)
    this.#history.hold(changed <= limit, 2, () => `${op} of at most ${limit} changes ${changed}`)
    const on = next === null || before === undefined || next < before
    this.#history.hold(on, 2, () => `${op} before ${before} goes on at ${next}`)
    if (changed > 0 && notFound === 0) this.#history.meet(dryRun ? 'manyDry' : op)
  }

  #view(id: JobKey, view: Seen | null, model: Model): void {
    const job = model.find(id)
    const said = view === null ? 'nothing' : `${view.state} ${view.run} ${view.attempt} ${view.lostRuns ?? 0} ${view.cancellation?.reason}`
    const so = job === undefined ? 'nothing' : `${STATES[job.state]} ${job.run} ${job.run - job.uncounted} ${job.lost} ${job.reason}`
    if (view?.cancellation !== undefined) this.#history.meet('cancellationSeen')
    this.#history.hold(said === so, 18, () => `get says that job ${formatId(id)} is ${said}, and it is ${so}`)
  }

  #outcome(id: JobKey, state: string, model: Model): void {
    const job = model.find(id)
    this.#history.meet('watched')
    const so = job === undefined || (isFinal(job.state) && STATES[job.state] === state)
    // By a later command of the same turn it may have been brought back.
    const revived = (state === STATES[FAILED] || state === STATES[CANCELLED]) && job !== undefined && job.uncounted > 0
    this.#history.hold(so || revived, 3, () => `result says that job ${formatId(id)} is ${state}, and it is in state ${job?.state}`)
  }

  #stats({ states }: { readonly states: Readonly<Record<string, number>> }, model: Model): void {
    for (const [code, state] of STATES.entries()) {
      const count = model.count(code as Tracked['state'])
      this.#history.hold(states[state] === count, 7, () => `stats says ${states[state]} ${state}, and there are ${count}`)
    }
  }
}
