/**
 * Dead letters, from committed turns alone: each failure for good leaves one in the queue that its own queue names, in its own commit, and
 * nothing else does; and what it has is what the job had.
 */
import type { EventNote, Job } from '@millrace/core/kernel'
import type { History } from './history.ts'
import type { Limits } from './limits.ts'
import type { Tracked } from './model.ts'

/** What its meta says of the job that has failed. */
interface Said {
  readonly id: string
  readonly queue: string
  readonly attempt: number
  readonly error: { readonly name: string }
}

export class DeadLetters {
  readonly #history: History
  readonly #limits: Limits
  // Of the turn that goes on.
  readonly #failed: { readonly job: Tracked; readonly error: string | undefined; readonly attempt: number }[] = []
  readonly #left: { readonly seq: number; readonly queue: string; readonly said: Said }[] = []

  constructor(history: History, limits: Limits) {
    this.#history = history
    this.#limits = limits
  }

  begin(): void {
    this.#failed.length = 0
    this.#left.length = 0
  }

  created(record: Job): void {
    const said = letterOf(record)
    if (said !== undefined) this.#left.push({ seq: record.seq, queue: record.lane.queue.name, said })
  }

  failed(job: Tracked, { error }: EventNote): void {
    // A later command of the turn may revive the job, which then begins anew.
    this.#failed.push({ job, error, attempt: job.run - job.uncounted })
  }

  end(): void {
    const history = this.#history
    for (const { job, error, attempt } of this.#failed) {
      const { deadLetter } = this.#limits.settings(job.queue)
      if (this.#limits.toldNow(job.queue)) continue
      const letters = this.#left.filter(({ said }) => said.id === job.id)
      const expected = deadLetter === undefined || job.isLetter || error === 'ParentFailedError' ? 0 : 1
      if (deadLetter !== undefined && job.isLetter) history.meet('deadLetterFailed')
      history.hold(
        letters.length === expected,
        50,
        () => `job ${job.seq} has failed, and leaves ${letters.length} dead letters, not ${expected}`,
      )
      for (const { seq, queue, said } of letters) {
        history.meet('deadLetter')
        const fits = queue === deadLetter && said.queue === job.queue && said.error.name === error
        history.hold(fits, 50, () => `dead letter ${seq} of job ${job.seq} is in ${queue}, and says ${JSON.stringify(said)}`)
        // Of a job that never ran it is the attempt of its row.
        history.hold(said.attempt === attempt, 50, () => `dead letter ${seq} tells of attempt ${said.attempt}, not ${attempt}`)
      }
    }
    for (const { seq, said } of this.#left)
      history.hold(
        this.#failed.some(({ job }) => job.id === said.id),
        50,
        () => `dead letter ${seq} is of job ${said.id}, which has not failed`,
      )
  }
}

/** What a dead letter says; undefined of any other job. */
export function letterOf({ extras }: Job): Said | undefined {
  return extras?.meta?.includes('"deadLetter"') ? JSON.parse(extras.meta).deadLetter : undefined
}
