// Rows of jobs that somebody has deleted by SQL: what is counted beside them is found to differ, and is counted again.
import { defineJob, openEngine } from '@millrace/engine'
import pg from 'pg'
import { expect } from 'vitest'
import { run } from '../../apps/millrace/src/cli/run.ts'
import { startHere } from '../app/here.ts'
import { type TestSchema, test } from './test.ts'

async function doctor({ url, schema }: TestSchema, ...flags: readonly string[]) {
  const args = ['doctor', '--postgres', url, '--schema', schema, '--json', ...flags]
  const program = startHere((host) => run(args, host), {})
  program.stdin.end()
  const { code, stderr } = await program.ended
  const answer = program.lines.length === 0 ? undefined : JSON.parse(program.lines.join(''))
  const counters = answer?.checks.find(({ check }: { check: string }) => check === 'counters')
  return { code, stderr, healthy: answer?.healthy, counters }
}

const job = defineJob<number>({ name: 'a' })

test.for(['TRUNCATE job', 'DELETE FROM job WHERE seq > 2'])(
  '%s: doctor says what differs, and counts again',
  async (sql, { durable: postgres }) => {
    const { url, schema } = postgres
    const options = { postgres: url, schema, durability: 'normal', logger: false } as const
    const engine = await openEngine(options)
    await engine.queues.configure('default', { perKeyLimit: 1 })
    for (let n = 0; n < 4; n++) await engine.enqueue(job, n, { concurrencyKey: 'key' })
    await engine.enqueue(job, 4, { unique: { key: 'one' } })
    await engine.enqueue(job, 5, { keep: '1d', delay: '1h' })
    expect(await doctor(postgres)).toMatchObject({ code: 0, stderr: '', healthy: true, counters: { verdict: 'ok' } })
    const refused = await doctor(postgres, '--recount')
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining('another process owns schema') })
    await engine.stop()

    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(`SET search_path TO "${schema}"; ${sql}`)
    const left = (await client.query('SELECT 1 FROM job')).rowCount as number
    await client.end()
    const found = await doctor(postgres)
    expect(found).toMatchObject({
      code: 1,
      healthy: false,
      counters: { verdict: 'problem', remedy: expect.stringContaining('doctor --recount') },
    })
    expect(found.counters.details).toContain('jobs a, unique key one: its job is gone')
    expect(found.counters.details).toContain(`queue default, jobs a: counted 5 waiting, found ${left}`)
    expect(await doctor(postgres, '--recount')).toMatchObject({ code: 0, healthy: true })

    await using again = await openEngine(options)
    expect((await again.stats()).states).toMatchObject({ waiting: left, scheduled: 0 })
    const { created } = await again.enqueue(job, 6, { unique: { key: 'one' } })
    expect(created).toBe(true)
    const next = await again.enqueue(job, 7, { concurrencyKey: 'key' })
    again.work([job.handler(({ data }) => data)])
    expect(await next.result()).toBe(7)
    await expect.poll(async () => (await again.stats()).states.completed).toBe(left + 2)
    expect((await again.stats()).states).toMatchObject({ waiting: 0, active: 0, blocked: 0 })
  },
)
