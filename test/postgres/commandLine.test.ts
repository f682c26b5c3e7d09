// The command line against a schema: what it finds there, what it creates, and what it says without one.
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { expect } from 'vitest'
import { run as runCommand } from '../../apps/millrace/src/cli/run.ts'
import { startHere } from '../app/here.ts'
import { type Program, startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { type TestSchema, test } from './test.ts'

const MAIN = new URL('../../apps/millrace/dist/main.js', import.meta.url)

/** Runs the command line in this process. */
async function run(...args: string[]) {
  const program = startHere((host) => runCommand([...args, '--json'], host), process.env as Record<string, string>)
  program.stdin.end()
  return endOf(program)
}

async function endOf(program: Pick<Program, 'ended' | 'lines'>) {
  const { code, stderr } = await program.ended
  return { code, stderr, lines: program.lines.map((line) => JSON.parse(line)) }
}

const within = ({ url, schema }: TestSchema) => ['--postgres', url, '--schema', schema]

function millrace(postgres: TestSchema, ...args: string[]) {
  return run(...args, ...within(postgres))
}

test('the first job creates the schema, and other commands find it there', async ({ durable: postgres }) => {
  const missing = await millrace(postgres, 'queues', 'list')
  expect(missing).toMatchObject({ code: 3, lines: [] })
  expect(missing.stderr).toContain('millrace migrate creates it')

  expect((await millrace(postgres, 'status')).stderr).toContain('millrace migrate creates it')
  const created = await endOf(startProgram(MAIN, ['enqueue', 'greet', '{"who":"you"}', ...within(postgres), '--json']))
  expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining('jobs wait in its inbox') })
  const { id } = created.lines[0]
  const lines = startHere((host) => runCommand(['enqueue', 'greet', '-', ...within(postgres), '--priority', '3', '--json'], host), {})
  lines.stdin.end('{"who":"me"}\n{"who":"her"}\n')
  expect((await endOf(lines)).lines).toEqual([{ enqueued: 2, existing: 0 }])
  // A command that looks for an owner does not become one.
  const lastCommitAt = expect.stringMatching(/^\d{4}-.*Z$/)
  const nobody = { owner: null, lastCommitAt, warnings: [expect.stringContaining('no process owns the schema')] }
  for (const _ of [1, 2]) expect((await millrace(postgres, 'status')).lines).toMatchObject([nobody])
  await using engine = await openEngine({ postgres: postgres.url, schema: postgres.schema, logger: false })
  await expect.poll(async () => (await engine.stats()).totals.enqueued).toBe(3)
  expect((await millrace(postgres, 'status')).lines).toMatchObject([{ owner: { pid: process.pid, epoch: 2 } }])
  expect((await millrace(postgres, 'queues', 'list')).lines).toMatchObject([{ queues: [{ name: 'default', totals: { enqueued: 3 } }] }])
  expect((await millrace(postgres, 'jobs', 'show', id)).lines).toEqual([
    expect.objectContaining({ id, name: 'greet', data: { who: 'you' }, state: 'waiting' }),
  ])

  const none = await millrace({ ...postgres, schema: 'No' }, 'queues', 'list')
  expect(none.code).toBe(2)
})

test('a file and a schema at once are refused', async ({ postgres }) => {
  const both = await millrace(postgres, 'queues', 'list', '--file', 'jobs.db')
  expect(both.code).toBe(2)
  expect(both.stderr).toContain('--file')
})

test('migrate moves a file to a schema, and back to another file', async ({ durable: postgres }) => {
  const { schema } = postgres
  const folder = temporaryFolder()
  const [first, second] = [join(folder, 'first.db'), join(folder, 'second.db')]
  const { lines: created } = await run('enqueue', 'greet', '{"who":"you"}', '--file', first)
  const there = await millrace(postgres, 'migrate', '--from', first)
  expect(there).toMatchObject({ code: 0, stderr: '' })
  expect(there.lines).toMatchObject([{ from: first, to: expect.stringContaining(`schema ${schema} at `), rows: expect.any(Number) }])
  expect(there.lines[0].tables.find(({ table }: { table: string }) => table === 'job')).toMatchObject({ rows: 1 })
  expect(await run('queues', 'list', '--file', first)).toMatchObject({ code: 1, stderr: expect.stringContaining('have moved to schema') })

  expect(await millrace(postgres, 'migrate', '--to', second)).toMatchObject({ code: 0 })
  expect((await run('jobs', 'show', created[0].id, '--file', second)).lines).toMatchObject([{ data: { who: 'you' }, state: 'waiting' }])
  expect((await millrace(postgres, 'queues', 'list')).stderr).toContain(`have moved to ${second}`)

  for (const wrong of [
    ['migrate', 'down', '--from', first],
    ['migrate', '--drain'],
    ['migrate', '--check', '--from', first],
    ['migrate', '--from', join(folder, 'none.db'), '--to', second],
    ['migrate', '--from', second, '--to', second],
    ['migrate', '--from', second],
  ])
    expect((await run(...wrong)).code, wrong.join(' ')).toBeGreaterThan(0)
})
