/** Reports mistakes that fail no job: in the job's log each time, in the worker's log once for each job name. */
import type { Logger } from '@millrace/core'
import type { RunContext } from './context.ts'
import type { Mistake } from './handlerContext.ts'
import type { Redactor } from './redact.ts'

const KNOWN_MAX = 1_000

export class Complaints {
  readonly #redactor: Redactor | undefined
  readonly #logger: Logger | undefined
  readonly #worker: string
  readonly #known = new Set<string>()

  constructor(redactor: Redactor | undefined, logger: Logger | undefined, worker: string) {
    this.#redactor = redactor
    this.#logger = logger
    this.#worker = worker
  }

  tell(context: RunContext, mistake: Mistake, message: string): void {
    const { name } = context.grant
    context.log('warn', message)
    const told = `${name} ${mistake}`
    if (this.#known.has(told) || this.#known.size >= KNOWN_MAX) return
    this.#known.add(told)
    const shown = this.#redactor?.line(name, message) ?? message
    this.#logger?.warn(`job '${name}': ${shown}`, { worker: this.#worker, job: context.job.id })
  }
}
