/** What jobs of schedules start with: what their schedule says by then, where each upsert updates the waiting one; and for ever after. */
import type { Effects, Job, Schedule } from '@millrace/core/kernel'
import type { History } from './history.ts'
import type { Requests } from './requests.ts'

export class Templates {
  readonly #history: History
  readonly #requests: Requests
  /** By their rows, the data that jobs had at their first start. */
  readonly #started = new Map<number, string>()
  /** By their rows, the data that jobs were created with. */
  readonly #created = new Map<number, string>()

  constructor(history: History, requests: Requests) {
    this.#history = history
    this.#requests = requests
  }

  /** @param of the schedules as the turn leaves them */
  commit({ events, grants }: Effects, of: (id: string) => Schedule | undefined, isUpdated: boolean): void {
    for (const { type, job } of events)
      if (job !== undefined && type === 'enqueued' && job.extras?.schedule !== undefined) this.#created.set(job.seq, textOf(job))
    for (const job of grants) {
      const schedule = of(job.extras?.schedule ?? '')
      if (job.run > 1) this.#again(job)
      else if (isUpdated && schedule !== undefined) this.#first(job, schedule)
      if (job.extras?.schedule !== undefined && !this.#started.has(job.seq)) this.#started.set(job.seq, textOf(job))
    }
  }

  #first(job: Job, { id, last, job: template }: Schedule): void {
    if (last?.seq !== job.seq || template.name !== job.lane.name) return
    const wanted = textOf(template)
    const found = textOf(job)
    if (found !== this.#created.get(job.seq)) this.#history.meet('waitingUpdated')
    this.#history.hold(found === wanted, 23, () => `job ${job.seq} starts with ${found}, and schedule ${id} says ${wanted}`)
    const { priority = job.priority } = template
    const so = priority === job.priority || this.#requests.mayBeMoved(job)
    this.#history.hold(so, 23, () => `job ${job.seq} starts with priority ${job.priority}, and schedule ${id} says ${priority}`)
  }

  #again(job: Job): void {
    const before = this.#started.get(job.seq)
    const so = before === undefined || before === textOf(job)
    this.#history.hold(so, 23, () => `run ${job.run} of job ${job.seq} has ${textOf(job)}, and began with ${before}`)
  }
}

function textOf({ data }: Pick<Job, 'data'>): string {
  return typeof data === 'string' ? data : data === undefined || data === null ? String(data) : Buffer.from(data).toString('hex')
}
