/** A job that comes by itself: `node apps/examples/schedules/report.ts [FILE]`. Stop it, wait, and start it again. */
import { defineJob, openEngine } from '@millrace/engine'

const report = defineJob<{ of: string }>({ name: 'report' })

await using engine = await openEngine({ file: process.argv[2] ?? 'schedules.db' })

// At every start: one that is as before keeps its next time.
await engine.schedules.upsert(
  'report/sales',
  { every: '1s', overlap: 'skip', catchUp: 'latest', runImmediately: true },
  { job: report, data: { of: 'sales' } },
)
await engine.schedules.upsert(
  'report/monthly',
  { cron: '0 9 1 * *', timezone: 'Europe/Berlin', jitter: '5m' },
  { job: report, data: { of: 'the month' }, options: { priority: 10, maxAttempts: 10 } },
)
const monthly = await engine.schedules.get('report/monthly', { times: 3 })
for (const at of monthly?.nextRuns ?? []) console.log(`the month is reported at ${at.toISOString()}`)

engine.work([
  report.handler(({ data, job }) => {
    const { at } = (job.meta as { schedule: { at: string } }).schedule
    console.log(`${data.of}, as of ${at}`)
  }),
])

await new Promise<void>((resolve) => process.once('SIGINT', () => resolve()))
const { runs } = (await engine.schedules.get('report/sales')) ?? {}
console.log(`${runs} reports of sales until now`)
