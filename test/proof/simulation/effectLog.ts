/** What handlers did: every start and end, so that two live attempts of one job are seen where the fence would hide them. */
import type { RunKey } from '@millrace/core'
import type { Client } from './client.ts'
import type { History } from './history.ts'
import type { Model, Tracked } from './model.ts'
import type { Timeline } from './timeline.ts'

export interface Execution {
  readonly seq: number
  readonly run: number
  readonly client: Client
  readonly session: string
  readonly startedMono: number
  readonly told: () => boolean
  endedMono: number | undefined
}

/** How late a worker may be told on top of the delay of its messages: it says again what was not answered every 250 ms. */
const SLACK_MS = 300

export class EffectLog {
  readonly #history: History
  readonly #timeline: Timeline
  readonly #model: Model
  readonly #delayMs: number
  readonly #bySeq = new Map<number, Execution[]>()
  readonly #byRun = new Map<string, Execution>()
  /** A run has begun in its worker. */
  began: (execution: Execution) => void = () => {}

  constructor(history: History, timeline: Timeline, model: Model, delayMs: number) {
    this.#history = history
    this.#timeline = timeline
    this.#model = model
    this.#delayMs = delayMs
  }

  started(client: Client, session: string, seq: number, run: number, told: () => boolean): Execution {
    const { mono } = this.#timeline
    this.#history.note(`${client.name} starts run ${run} of job ${seq}`)
    const execution: Execution = { seq, run, client, session, startedMono: mono, told, endedMono: undefined }
    const executions = this.#bySeq.get(seq) ?? []
    for (const other of executions) {
      const [earlier, later] = other.run < run ? [other, execution] : [execution, other]
      this.#both(earlier, later)
      // What says so may be under way; by then it is there.
      this.#timeline.after(2 * this.#delayMs + SLACK_MS + 1, () => this.#both(earlier, later))
    }
    this.#history.hold(!this.#byRun.has(`${seq}:${run}`), 10, () => `run ${run} of job ${seq} starts twice`)
    this.#history.hold(!told(), 9, () => `run ${run} of job ${seq} starts in ${client.name}, which has given it up`)
    executions.push(execution)
    this.#bySeq.set(seq, executions)
    this.#byRun.set(`${seq}:${run}`, execution)
    this.began(execution)
    return execution
  }

  ended(execution: Execution): void {
    execution.endedMono = this.#timeline.mono
    if (execution.client.dead) return
    this.#history.note(`${execution.client.name} ends run ${execution.run} of job ${execution.seq}`)
  }

  /** A dead letter is run: it has the data of the call that has failed, where that is certain. */
  read(seq: number, number: number | undefined, expected: number | undefined): void {
    this.#history.meet('deadLetterRead')
    const fits = number !== undefined && (expected === undefined || expected === 0 || number === expected)
    this.#history.hold(fits, 50, () => `dead letter ${seq} has the data of call ${number}, not ${expected}`)
  }

  /** One call of a handler was for several runs, all of one key if it has asked for that. */
  together(executions: readonly Execution[], ofOneKey: boolean): void {
    this.#history.meet('handledTogether')
    if (!ofOneKey) return
    const keys = new Set(executions.flatMap(({ seq }) => this.#model.jobs.get(seq) ?? []).map(({ key }) => key))
    this.#history.hold(keys.size <= 1, 53, () => `a batch of one key has jobs of ${[...keys]}`)
    if (!keys.has(undefined)) this.#history.meet('handledByKey')
  }

  /** The engine takes a run for lost, and may give the job to another: its worker has given it up before, by its own clock. */
  lost({ seq, run }: Tracked, mono: number): void {
    const execution = this.of(seq, run)
    if (execution === undefined || execution.endedMono !== undefined || execution.told()) return
    const { client } = execution
    // Stopped it does nothing, and looks at its clock first when it goes on.
    if (!client.remote || client.dead || client.slowest) return
    if (mono <= client.frozenUntil || !this.#timeline.caughtUp(mono)) return
    this.#history.violate(9, `run ${run} of job ${seq} goes on in ${client.name}, and its lease is over`)
  }

  /** A worker has been told that these are its own no longer: it has given them up by now. */
  disowned(client: Client, runs: readonly RunKey[]): void {
    if (client.dead) return
    for (const { seq, run } of runs) {
      const execution = this.of(seq, run)
      if (execution === undefined || execution.client !== client || execution.endedMono !== undefined) continue
      this.#history.meet('disowned')
      this.#history.hold(execution.told(), 9, () => `run ${run} of job ${seq} goes on in ${client.name}, which has heard that it is lost`)
    }
  }

  of(seq: number, run: number): Execution | undefined {
    return this.#byRun.get(`${seq}:${run}`)
  }

  /** What a worker runs and has not given up. */
  live(client: Client): Execution[] {
    return [...this.#byRun.values()].filter((one) => one.client === client && one.endedMono === undefined && !one.told())
  }

  /** Runs that have ended in their worker so long ago, while the engine takes them to go on. */
  untold(ms: number): Tracked[] {
    return [...this.#model.active].filter((job) => {
      const execution = this.of(job.seq, job.run)
      if (execution?.endedMono === undefined || execution.client.dead) return false
      return this.#timeline.mono - Math.max(execution.endedMono, execution.client.disturbedUntil) > ms
    })
  }

  /** An earlier run of the same job still goes on, or is begun only now because its hand-out was late. */
  #both(earlier: Execution, later: Execution): void {
    if (earlier.endedMono !== undefined || later.endedMono !== undefined) return
    const { mono } = this.#timeline
    const { client } = earlier
    if (client.dead) return
    // What came due while all stood still is yet to happen: a worker that was stopped until then has its clock to look at first.
    if (!this.#timeline.caughtUp(mono)) {
      this.#timeline.after(1, () => this.#both(earlier, later))
      return
    }
    if (earlier.told()) {
      this.#history.meet('zombie')
      return
    }
    const job = this.#model.jobs.get(earlier.seq)
    // Its own clock tells it, before the engine gives the run to another; stopped it does nothing, and looks at the clock first.
    const stalled = job !== undefined && job.stalledRun === earlier.run && job.stalledMono === job.endedMono
    if (client.remote && !client.slowest && stalled && mono > client.frozenUntil) {
      this.#history.violate(9, `run ${earlier.run} of job ${earlier.seq} goes on in ${client.name} past its lease, beside run ${later.run}`)
      return
    }
    // What says so is under way, or was lost with its channel.
    const endedMono = job?.toldMono ?? mono
    // A hand-out that came late, after a freeze or a slow commit, has what takes it back right behind it.
    const known = Math.max(endedMono, client.disturbedUntil, this.#timeline.stalledUntil, earlier.startedMono)
    if (mono - known <= 2 * this.#delayMs + SLACK_MS && client !== later.client) return
    if (client.disturbedUntil >= earlier.startedMono && client !== later.client) {
      // Unless it has named since what it holds, and heard what of that is its own no longer.
      const named = client.attachSentMono >= Math.max(earlier.startedMono, client.disturbedUntil)
      if (!named || mono - Math.max(endedMono, client.attachedMono) <= 2 * this.#delayMs + SLACK_MS) return
    }
    this.#history.violate(
      9,
      `runs ${earlier.run} and ${later.run} of job ${earlier.seq} are both live (${client.name}, ${later.client.name})`,
    )
  }
}
