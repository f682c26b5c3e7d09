/**
 * The way back: jobs that Millrace has not finished return to Agenda. Stop the workers first.
 * `DATABASE_URL=postgres://... node back.ts FILE`. If it is killed between the two calls for a job, the next run brings that job twice.
 */
import { PostgresBackend } from '@agendajs/postgres-backend'
import { openEngine } from '@millrace/engine'
import { Agenda } from 'agenda'

const [file = 'jobs.db'] = process.argv.slice(2)
const engine = await openEngine({ file })
const connectionString = process.env['DATABASE_URL'] ?? ''
const backend = new PostgresBackend({ connectionString, tableName: process.env['TABLE'] ?? 'agenda_jobs' })
const agenda = new Agenda({ backend })
await agenda.ready

let after: string | undefined
do {
  const { jobs, next } = await engine.list({ state: ['waiting', 'scheduled'], order: 'oldest', ...(after && { after }) })
  for (const { id, name, data, runAt, priority } of jobs) {
    await agenda.create(name, data).schedule(runAt).priority(priority).save()
    await engine.cancel(id)
    console.log(`${name} is back in Agenda`)
  }
  after = next
} while (after !== undefined)
await backend.disconnect()
await engine.stop()
