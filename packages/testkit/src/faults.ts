/** Faults that a test can cause. The writes that are counted are transactions: one for all calls of one moment. */
import { type Duration, durationOption } from '@millrace/core'
import type { Worker } from '@millrace/worker'
import { quiet, type VirtualClock } from './clock.ts'
import type { FaultPlan, Faults } from './faultyStore.ts'
import type { TestWriter } from './writer.ts'

/** Lets a test engine fail: its store, its workers, its connections. */
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

  // Each replaces the one before: one kind of trouble at a time.

  /** Makes the next write fail before its commit: nothing is written, and callers get StorageError. */
  failWrite(plan?: FaultPlan): void {
    this.#store.fail({ kind: 'io' }, plan)
  }

  /** Makes the next commit fail, with nothing of it stored. The engine cannot know that: callers get CommitUnknownError. */
  failCommit(plan?: FaultPlan): void {
    this.#store.fail({ kind: 'commit', committed: false }, plan)
  }

  /** Stores the next commit and loses its replies, as in a crash between the two: callers get CommitUnknownError. */
  loseReply(plan?: FaultPlan): void {
    this.#store.fail({ kind: 'commit', committed: true }, plan)
  }

  /** Makes the next commit take that much of the virtual clock's time. */
  slowCommit(duration: Duration, plan?: FaultPlan): void {
    const ms = durationOption('slowCommit', duration)
    this.#store.fail({ kind: 'slow', pass: () => this.#clock.stall(ms) }, plan)
  }

  /** Leaves no room for new jobs until `heal`: DiskFullError. Running jobs complete, in the room that is kept for that. */
  fillDisk(): void {
    this.#store.room = false
    this.#store.fail({ kind: 'full' }, { times: Number.POSITIVE_INFINITY })
  }

  /** Ends all faults. After a full disk the engine looks for room once a second: `clock.advance('1s')`. */
  heal(): void {
    this.#store.room = true
    this.#store.heal()
  }

  /**
   * Kills the process of a worker: its runs are lost, have used an attempt, and come again. Its handlers cannot be stopped, but
   * nothing that they report counts; their signals abort.
   */
  async killWorker(worker: Worker): Promise<void> {
    for (const session of worker.sessions) this.#writer.kill(session)
    await quiet()
    worker.abandon(new Error('the test has killed this worker'))
    await quiet()
  }

  /** Kills the writer and brings it back: unanswered calls get CommitUnknownError; workers live, and continue their runs. */
  async restartWriter(): Promise<void> {
    this.#writer.restart()
    await quiet()
  }
}
