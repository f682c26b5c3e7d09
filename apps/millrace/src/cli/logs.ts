/** `millrace jobs logs`: prints the log lines of a job's runs as they arrive. */
import { type LogsOptions, validateLogsOptions } from '@millrace/core'
import type { Engine, Job, NumberedLog } from '@millrace/engine'
import { defined } from '../defined.ts'
import { pause } from './clock.ts'
import type { Context } from './context.ts'
import { jobOf } from './jobOf.ts'
import { line as text } from './output/line.ts'
import { logText } from './view/job.ts'

/** The interval at which new lines are looked for, because log lines cause no events. */
const LOOK_MS = 250
const PAGE_LINES = 1_000
const FINAL: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])

export interface LogsFlags {
  readonly run?: number
  readonly follow?: boolean
}

export async function followLogs({ connect, out, signal }: Context, id: string, { run: only, follow = false }: LogsFlags): Promise<void> {
  validateLogsOptions(defined<LogsOptions>({ run: only }))
  const engine = await connect()
  const lines = new Lines(engine, id)
  for (;;) {
    const job = await jobOf(engine, id, { payload: 'none' })
    for (const attempt of job.attempts) {
      const { run } = attempt
      if (run === 0 || (only !== undefined && run !== only)) continue
      for await (const line of lines.fresh(attempt)) {
        const { at, level, message, fields } = line
        await out.item({ run, at, level, message, fields }, () => text`${out.paint('dim', `run ${run}`)}  ${logText(line, out.paint)}`)
      }
    }
    if (!follow || FINAL.has(job.state) || signal.aborted) return
    await pause(LOOK_MS, signal)
  }
}

/** The lines of a job that are yet to be shown. A run that has ended is read once. */
class Lines {
  readonly #engine: Pick<Engine, 'logs'>
  readonly #id: string
  /** The number of the last line shown of each run. */
  readonly #last = new Map<number, number>()
  readonly #ended = new Set<number>()

  constructor(engine: Pick<Engine, 'logs'>, id: string) {
    this.#engine = engine
    this.#id = id
  }

  async *fresh({ run, endedAt }: Job['attempts'][number]): AsyncGenerator<NumberedLog, void> {
    if (this.#ended.has(run)) return
    for (;;) {
      const after = this.#last.get(run)
      const { lines, next } = await this.#engine.logs(this.#id, { run, limit: PAGE_LINES, ...(after !== undefined && { after }) })
      yield* lines
      const last = lines.at(-1)
      if (last !== undefined) this.#last.set(run, last.number)
      if (next === undefined) break
    }
    if (endedAt !== undefined) this.#ended.add(run)
  }
}
