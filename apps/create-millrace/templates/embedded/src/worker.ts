/** The handlers, and what runs by the clock. The tests start the same worker. */
import type { Engine } from '@millrace/engine'
import { report, sendMail } from './jobs.ts'
import type { Mailer } from './mailer.ts'

export function startWorker(engine: Engine, send: Mailer): void {
  engine.work(
    [
      // A job can run more than once: make handlers idempotent. Pass `signal` on: it aborts at the timeout.
      sendMail.handler(({ data, signal }) => send(data.to, signal)),
      report.handler(async () => {
        const { states } = await engine.stats()
        console.log(`report: ${states.completed} jobs completed, ${states.failed} failed`)
        return states.completed
      }),
    ],
    { concurrency: 16 },
  )
}

/** At each start: a schedule that is there already keeps its next time. */
export async function startSchedules(engine: Engine): Promise<void> {
  await engine.schedules.upsert('report', { every: '1m' }, { job: report, data: {} })
}
