/** `millrace jobs logs`: prints the log lines of a job's runs as they arrive. */
import type { Job, JobLog } from '@millrace/engine'
import { pause } from './clock.ts'
import type { Context } from './context.ts'
import { jobOf } from './jobOf.ts'
import { line as text } from './output/line.ts'
import { logText } from './view/job.ts'

/** The interval at which new lines are looked for, because log lines cause no events. */
const LOOK_MS = 250
const FINAL: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled'])

export async function followLogs({ connect, out, signal }: Context, id: string, follow: boolean): Promise<void> {
  const engine = await connect()
  const shown = new Shown()
  for (;;) {
    const job = await jobOf(engine, id, { payload: 'none' })
    for (const { run, line } of shown.fresh(job)) {
      const { at, level, message, fields } = line
      await out.item({ run, at, level, message, fields }, () => text`${out.paint('dim', `run ${run}`)}  ${logText(line, out.paint)}`)
    }
    if (!follow || FINAL.has(job.state) || signal.aborted) return
    await pause(LOOK_MS, signal)
  }
}

/** The last line shown of each run: its time, and the number of lines with that time. A job keeps only its newest lines. */
class Shown {
  readonly #last = new Map<number, { at: number; count: number }>()

  fresh({ attempts }: Job): { readonly run: number; readonly line: JobLog }[] {
    return attempts.flatMap(({ run, logs }) => {
      const { at, count } = this.#last.get(run) ?? { at: Number.NEGATIVE_INFINITY, count: 0 }
      let same = 0
      const fresh = logs.filter((line) => line.at.getTime() > at || (line.at.getTime() === at && ++same > count))
      const last = logs.at(-1)?.at.getTime()
      if (last !== undefined) this.#last.set(run, { at: last, count: logs.filter((line) => line.at.getTime() === last).length })
      return fresh.map((line) => ({ run, line }))
    })
  }
}
