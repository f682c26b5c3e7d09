/** The places where handlers that are modules run, such as threads: each runs one job at a time. */
import type { Settlement } from '../settlement.ts'
import type { FromRun, Task, ToRun } from './messages.ts'

export interface StartedRun {
  /** Resolves when everything that the run has said is heard; rejects if its place dies. */
  readonly ended: Promise<Settlement>
  say(message: ToRun): void
  /** Ends the place with the run. */
  kill(): void
}

export interface Places {
  /** Starts a run in a free place. The pool starts no more than there are places. */
  start(task: Task, hear: (message: FromRun) => void): StartedRun
  /** Runs when all runs have ended: the modules tear down within `ms`, and the places end. */
  close(ms: number): Promise<void>
}
