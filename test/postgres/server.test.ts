// The Postgres that the tests start themselves.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { expect } from 'vitest'
import { test } from './test.ts'

const STARTS = fileURLToPath(new URL('./programs/starts.ts', import.meta.url))

async function connect(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return { client, [Symbol.asyncDispose]: () => client.end() }
}

test('is Postgres 18, and does not run as root', async ({ postgres }) => {
  await using connection = await connect(postgres.url)
  const { rows } = await connection.client.query<{ version: string; folder: string }>(
    "select current_setting('server_version_num') as version, current_setting('data_directory') as folder",
  )
  expect(Number(rows[0]?.version)).toBeGreaterThanOrEqual(180_000)
  expect(statSync(rows[0]?.folder as string).uid).not.toBe(0)
})

test('gives each test a schema that is not there yet', async ({ postgres }) => {
  await using connection = await connect(postgres.url)
  await connection.client.query(`create schema ${postgres.schema}`)
  const { rows } = await connection.client.query('select nspname from pg_namespace where nspname = $1', [postgres.schema])
  expect(rows).toHaveLength(1)
})

test('ends with the run, also if that is killed, and leaves no files', async ({ postgres }) => {
  expect(postgres.url).toContain('postgres')
  const run = spawn(process.execPath, [STARTS], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [url] = (await once(createInterface({ input: run.stdout }), 'line')) as [string]
  const folder = new URL(url).searchParams.get('host') as string
  expect(existsSync(folder)).toBe(true)
  run.kill('SIGKILL')
  await expect.poll(() => existsSync(folder)).toBe(false)
  await expect(connect(url)).rejects.toThrow()
})
