// The command line against a schema: what it finds there, what it creates, and what it says without one.
import { expect } from 'vitest'
import { startProgram } from '../program.ts'
import { durableServer, type TestSchema, test } from './test.ts'

const MAIN = new URL('../../apps/millrace/src/main.ts', import.meta.url)

async function millrace({ url, schema }: TestSchema, ...args: string[]) {
  const { ended, lines } = startProgram(MAIN, [...args, '--postgres', url, '--schema', schema, '--json'])
  const { code, stderr } = await ended
  return { code, stderr, lines: lines.map((line) => JSON.parse(line)) }
}

test('the first job creates the schema, and other commands find it there', async ({ postgres: { schema } }) => {
  const postgres = { schema, url: await durableServer() }
  const missing = await millrace(postgres, 'queues', 'list')
  expect(missing).toMatchObject({ code: 3, lines: [] })
  expect(missing.stderr).toContain('millrace migrate creates it')

  const created = await millrace(postgres, 'enqueue', 'greet', '{"who":"you"}')
  expect(created).toMatchObject({ code: 0, stderr: '' })
  const { id } = created.lines[0]
  expect((await millrace(postgres, 'queues', 'list')).lines).toMatchObject([{ queues: [{ name: 'default', totals: { enqueued: 1 } }] }])
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
