/** What may go wrong, at a test's word. The writes that are counted are transactions: one for all calls of one moment. */
import { type Duration, durationOption } from '@millrace/core'
import type { Worker } from '@millrace/worker'
import { quiet, type VirtualClock } from './clock.ts'
import type { FaultPlan, Faults } from './faultyStore.ts'
import type { TestWriter } from './writer.ts'

export class TestFaults {
  readonly #store: Faults
  readonly #clock: VirtualClock
  readonly #writer: TestWriter

  /** @internal */
  constructor(store: Faults, clock: VirtualClock, writer: TestWriter) {
    this.#store = store
    this.#clock = clock
    this.#writer = writer
  }

  // Each takes the place of the one before: one kind of trouble at a time.

  /** The next write fails before its commit: nothing is written, and callers get StorageError. */
  failWrite(plan?: FaultPlan): void {
    this.#store.fail({ kind: 'io' }, plan)
  }

  /** The next commit fails, and nothing of it is stored. Nobody can know that: callers get CommitUnknownError. */
  failCommit(plan?: FaultPlan): void {
    this.#store.fail({ kind: 'commit', committed: false }, plan)
  }

  /** The next commit is stored, and its answers are lost, as in a crash between the two: callers get CommitUnknownError. */
  loseReply(plan?: FaultPlan): void {
    this.#store.fail({ kind: 'commit', committed: true }, plan)
  }

  /** The next commit takes so much of the virtual clock's time. */
  slowCommit(duration: Duration, plan?: FaultPlan): void {
    const ms = durationOption('slowCommit', duration)
    this.#store.fail({ kind: 'slow', pass: () => this.#clock.stall(ms) }, plan)
  }

  /** No room for new jobs until `heal`: DiskFullError. What runs completes, in the room that is kept for that. */
  fillDisk(): void {
    this.#store.room = false
    this.#store.fail({ kind: 'full' }, { times: Number.POSITIVE_INFINITY })
  }

  /** Ends all of these. After a full disk the engine looks for room once a second: `clock.advance('1s')`. */
  heal(): void {
    this.#store.room = true
    this.#store.heal()
  }

  /**
   * The process of a worker dies: its runs are lost, have used an attempt, and come again. Its handlers cannot be stopped, but nothing that
   * they say counts; their signals abort.
   */
  async killWorker(worker: Worker): Promise<void> {
    for (const session of worker.sessions) this.#writer.kill(session)
    await quiet()
    worker.abandon(new Error('the test has killed this worker'))
    await quiet()
  }

  /** The writer dies and comes back: unanswered calls get CommitUnknownError; workers live, and go on with what they run. */
  async restartWriter(): Promise<void> {
    this.#writer.restart()
    await quiet()
  }
}
