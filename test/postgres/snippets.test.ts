// The snippets of docs/postgres.md, and those of every page that need a Postgres, a Redis or a MongoDB, each beside a real one (MongoDB: its protocol).
import { openEngine } from '@millrace/engine'
import { Queue } from 'bullmq'
import { makeWorkerUtils } from 'graphile-worker'
import { ObjectId } from 'mongodb'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { afterAll, beforeAll, expect, inject, type TestContext, test } from 'vitest'
import { sampled } from '../../packages/testkit/src/testing/runs.ts'
import { startMongo } from '../mongo.ts'
import { startRedis } from '../redis.ts'
import { BLOCKS } from '../snippets/blocks.ts'
import { needsServer, prepare, runUnit, type Template, type Unit, unitsOf } from '../snippets/place.ts'
import { newSchema } from './test.ts'

const units = sampled(unitsOf(needsServer))
/** Addresses of a Postgres, as pages have them. */
const ADDRESS = /postgres:\/\/[\w:@.]+\/app\b/g

let template: Template & AsyncDisposable
beforeAll(async () => {
  template = await prepare()
})
afterAll(async () => {
  await template[Symbol.asyncDispose]()
})

async function query(url: string, ...statements: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const results = []
    for (const statement of statements) results.push(await client.query(statement))
    return results.flat().flatMap(({ rows }) => rows)
  } finally {
    await client.end()
  }
}

let count = 0
/** A database of its own, so that each snippet finds the schemas that are the default. */
async function newDatabase(): Promise<string> {
  const url = new URL(inject('durablePostgres'))
  const name = `snippets_${process.pid}_${++count}`
  await query(url.href, `CREATE DATABASE ${name}`)
  url.pathname = `/${name}`
  return url.href
}

/** Fills the queue from which a snippet imports, and returns its address. */
const SOURCES: Readonly<Record<string, (url: string, context: TestContext) => Promise<readonly [shown: string, real: string]>>> = {
  'pg-boss': async (url) => {
    const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false, max: 2 })
    await boss.start()
    for (const name of ['mail', 'report']) {
      await boss.createQueue(name)
      await boss.send(name, { to: 'ada' })
    }
    await boss.stop({ graceful: false })
    return [url, url]
  },
  'graphile-worker': async (url) => {
    const utils = await makeWorkerUtils({ connectionString: url })
    await utils.migrate()
    await utils.addJob('mail', { to: 'ada' })
    await utils.release()
    return [url, url]
  },
  bullmq: async (_url, context) => {
    const redis = await startRedis(context)
    await new Queue('mail', { connection: redis.client }).add('mail', { to: 'ada' })
    return ['redis://localhost:6379', redis.url]
  },
  agenda: async () => {
    const job = {
      _id: new ObjectId(),
      name: 'mail',
      type: 'normal',
      priority: 0,
      data: { to: 'ada' },
      nextRunAt: new Date(),
      lockedAt: null,
    }
    return ['mongodb://localhost/app', (await startMongo({ agendaJobs: [job] })).url]
  },
}

async function runBeside(unit: Unit, url: string, context: TestContext) {
  const [, from] = /import --from (\S+)/.exec(unit.script) ?? []
  const [shown, real] = from === undefined ? [url, url] : await (SOURCES[from] as NonNullable<(typeof SOURCES)[string]>)(url, context)
  const instead = Object.fromEntries([
    [shown, real],
    ...[...(unit.script.match(ADDRESS) ?? []), 'postgres://queue@db.example/app'].map((address) => [address, url]),
  ])
  // At a terminal it asks.
  const script = unit.script.replace(/^(.*import --from (?:(?!--dry-run|--yes|#).)*?) *(?=#|$)/gm, '$1 --yes ')
  // The page has set it in a section before.
  const env = unit.place.startsWith('docs/postgres.md') ? { MILLRACE_POSTGRES: url } : {}
  return runUnit({ ...unit, script }, template, context, { instead, env })
}

test.for(units)('$place', async (unit, context) => {
  newSchema(context)
  const ended = await runBeside(unit, await newDatabase(), context)
  expect(ended.code, `${ended.stderr}${ended.stdout}`).toBe(0)
  if (unit.script.includes('import --from')) expect(ended.stdout).toMatch(/\b[12] jobs?\b| waiting +1 /)
})

test('the SQL of docs/postgres.md: a role that has the right of the page creates a job in its transaction', async (context) => {
  newSchema(context)
  const url = await newDatabase()
  const blocks = BLOCKS.filter(({ language }) => language === 'sql')
  expect(blocks.map(({ page }) => page)).toEqual(['docs/postgres.md', 'docs/postgres.md'])
  const [transaction, grant] = blocks.map(({ text }) => text) as [string, string]
  const unit = { place: 'docs/postgres.md', toml: undefined }
  const migrated = await runBeside({ ...unit, script: 'millrace migrate\n' }, url, context)
  expect(migrated.code, migrated.stderr).toBe(0)
  await query(url, 'CREATE TABLE orders (total int)', 'CREATE ROLE app', 'GRANT INSERT ON orders TO app')
  await expect(query(url, 'SET ROLE app', transaction)).rejects.toThrow(/permission denied for schema millrace/)
  const [row] = await query(url, grant, 'SET ROLE app', transaction)
  await using _owner = await openEngine({ postgres: url, logger: false })
  const shown = await runBeside({ ...unit, script: `millrace jobs show ${row?.['enqueue']}\n` }, url, context)
  expect(shown.stdout, shown.stderr).toMatch(/^name +receipt$/m)
  expect(shown.stdout).toMatch(/^priority +5$/m)
  expect(await query(url, 'SELECT total FROM orders')).toEqual([{ total: 100 }])
})
