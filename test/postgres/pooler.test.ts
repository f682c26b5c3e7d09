// PgBouncer between processes and Postgres: an engine refuses it by name, and jobs that are enqueued by SQL pass.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openEngine } from '@millrace/engine'
import { inspectSchema, openReader, openTunnel, ownerRegistryOf } from '@millrace/postgres'
import pg from 'pg'
import { expect, onTestFinished } from 'vitest'
import { freePort } from '../freePorts.ts'
import { temporaryFolder } from '../temporary.ts'
import { NOBODY } from './nobody.ts'
import { test } from './test.ts'

/** As Debian's package `pgbouncer` installs it. */
const PROGRAM = '/usr/sbin/pgbouncer'

const MODES = ['session', 'transaction', 'statement'] as const
type Mode = (typeof MODES)[number]

/** Starts a pooler before a server, and returns its URL. It ends with the test. */
async function startPooler(serverUrl: string, mode: Mode): Promise<string> {
  const url = new URL(serverUrl)
  const [folder, port] = [temporaryFolder(), await freePort()]
  const host = url.searchParams.get('host') ?? url.hostname
  const file = join(folder, 'pgbouncer.ini')
  const settings = { listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '', auth_type: 'any', pool_mode: mode, logfile: '' }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(
    file,
    `[databases]\npostgres = host=${host} port=${url.port || 5_432} user=${url.username} pool_size=1\n[pgbouncer]\n${lines.join('\n')}\n`,
  )
  chmodSync(folder, 0o755)
  if (NOBODY !== undefined) chownSync(file, NOBODY.uid, NOBODY.gid)
  const child = spawn(PROGRAM, [file], { stdio: ['ignore', 'ignore', 'pipe'], ...NOBODY })
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  for await (const text of child.stderr) if (String(text).includes('process up')) break
  child.stderr.resume()
  return `postgres://${url.username}@127.0.0.1:${port}/postgres`
}

/** Everything that connects to Postgres for an engine. */
const CONNECTIONS: Readonly<Record<string, (url: string, schema: string) => unknown>> = {
  any: (postgres, schema) => openEngine({ postgres, schema, durability: 'normal', logger: false }),
  client: (postgres, schema) => openEngine({ postgres, schema, role: 'client', logger: false }),
  owner: (postgres, schema) => openEngine({ postgres, schema, role: 'owner', durability: 'normal', logger: false }),
  mailbox: (url, schema) => openTunnel({ url, schema, epoch: 1 }, 'stream'),
  'another process that looks for the owner': (url, schema) => ownerRegistryOf({ url, schema }).find(),
  reader: async (url, schema) => openReader({ url, schema }),
  inspection: async (url, schema) => inspectSchema({ url, schema }),
}

/** The settings that Millrace makes in sessions of its own. */
const SETTINGS = ['search_path', 'synchronous_commit', 'statement_timeout', 'idle_session_timeout', 'enable_seqscan', 'application_name']

test.for(MODES)(
  'a pooler in %s mode is refused by name, whoever connects, and its sessions stay as they were',
  async (mode, { skip, postgres }) => {
    if (!existsSync(PROGRAM)) return skip(`there is no ${PROGRAM}: install the package pgbouncer`)
    const { url, schema } = postgres
    await using _owner = await openEngine({ postgres: url, schema, durability: 'normal', logger: false })
    const pooled = await startPooler(url, mode)
    // The one session of the pool, which every connection gets in its turn.
    const settings = async () => {
      const client = new pg.Client({ connectionString: pooled, application_name: 'app' })
      await client.connect()
      const { rows } = await client.query(`SELECT ${SETTINGS.map((name) => `current_setting('${name}') AS ${name}`).join(', ')}`)
      await client.end()
      return rows[0]
    }
    const before = await settings()
    for (const [what, connect] of Object.entries(CONNECTIONS)) {
      await expect((async () => connect(pooled, schema))(), what).rejects.toMatchObject({
        code: 'UNSUPPORTED_RUNTIME',
        message: expect.stringMatching(/a pooler answers in place of Postgres: name the server itself/),
      })
      expect(await settings(), what).toEqual(before)
    }
  },
)

test('jobs are enqueued by SQL through a pooler in transaction mode, with the transactions of their callers', async ({
  postgres: { url, schema },
  skip,
}) => {
  if (!existsSync(PROGRAM)) return skip(`there is no ${PROGRAM}: install the package pgbouncer`)
  await using engine = await openEngine({ postgres: url, schema, durability: 'normal', logger: false })
  const pool = new pg.Pool({ connectionString: await startPooler(url, 'transaction'), max: 4 })
  onTestFinished(() => pool.end())
  const enqueue = async (data: number, end: 'COMMIT' | 'ROLLBACK') => {
    const client = await pool.connect()
    await client.query('BEGIN')
    const { rows } = await client.query(`SELECT "${schema}".enqueue('a', $1) AS id`, [data])
    await client.query(end)
    client.release()
    return rows[0].id as string
  }
  const [kept, undone] = [await enqueue(1, 'COMMIT'), await enqueue(2, 'ROLLBACK')]
  const many = await Promise.all([3, 4, 5, 6, 7, 8].map((data) => enqueue(data, 'COMMIT')))
  await expect.poll(async () => (await engine.stats()).totals.enqueued).toBe(7)
  expect(await engine.get(kept)).toMatchObject({ data: 1, state: 'waiting' })
  expect(await engine.get(undone)).toBeUndefined()
  expect((await Promise.all(many.map((id) => engine.get(id)))).map((job) => job?.data)).toEqual([3, 4, 5, 6, 7, 8])
})
