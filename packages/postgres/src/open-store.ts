/** Opens a schema as its owner: connects, creates the schema if there is none, and claims it. */
import { AlreadyOpenError, NODE_LIMIT } from '@millrace/core'
import { Connection } from './connection.ts'
import { Line } from './line/line.ts'
import { checkSchema, checkServer, refusedBy } from './open/check.ts'
import { claim } from './open/claim.ts'
import { Lock } from './open/lock.ts'
import type { StoreOptions } from './options.ts'
import { CREATE_SCHEMA, SCHEMA_VERSION } from './schema.ts'
import { makeStore, type PostgresStore } from './store.ts'

/** @throws AlreadyOpenError, and other typed errors that say why the schema cannot be opened */
export function openStore({ url, schema, durability, waitMs, random, now }: StoreOptions): PostgresStore {
  const line = new Line({ url, setUp: settings(schema, durability) })
  try {
    const error = line.connect()
    if (error !== undefined) throw refusedBy(error)
    const connection = new Connection(line)
    checkServer(connection, durability)
    const lock = new Lock(connection, schema)
    if (!lock.take(waitMs)) throw new AlreadyOpenError(`another process owns schema ${schema}`)
    if (!checkSchema(connection, schema)) create(line, schema, now, random)
    return makeStore(connection, lock, claim(connection, now))
  } catch (error) {
    line.close()
    throw error
  }
}

/** Plans must not turn with statistics: every statement has an index for what it looks up. */
function settings(schema: string, durability: StoreOptions['durability']): readonly string[] {
  const values = {
    application_name: `millrace ${schema}`,
    search_path: schema,
    synchronous_commit: durability === 'full' ? 'on' : 'off',
    plan_cache_mode: 'force_generic_plan',
    enable_seqscan: 'off',
    enable_hashjoin: 'off',
    enable_mergejoin: 'off',
    jit: 'off',
    statement_timeout: '10s',
    lock_timeout: '5s',
    idle_in_transaction_session_timeout: '10s',
    // An owner beats more often. The session of one that stands still or whose machine is gone ends, and with it the lock.
    idle_session_timeout: '10s',
    tcp_keepalives_idle: '5',
    tcp_keepalives_interval: '2',
    tcp_keepalives_count: '3',
    tcp_user_timeout: '10000',
  }
  return Object.entries(values).map(([name, value]) => `SET ${name} TO '${value}'`)
}

/** Codes of what another engine has created at the same time. */
const THERE: ReadonlySet<string | undefined> = new Set(['42P06', '42P07', '23505'])

function create(line: Line, schema: string, now: number, random: () => number): void {
  // No number is 0.
  const draw = () => 1 + Math.floor(random() * (NODE_LIMIT - 1))
  const { error } = line.transact([
    ...[`CREATE SCHEMA IF NOT EXISTS "${schema}"`, ...CREATE_SCHEMA].map((text) => ({ text, values: [] })),
    {
      text: 'INSERT INTO meta (one, node, inbox_number, schema_version, min_reader, created_at) VALUES (1, $1, $2, $3, $3, $4)',
      values: [draw(), draw(), SCHEMA_VERSION, now],
    },
    { text: "INSERT INTO journal VALUES (0, 0, $1, 1, 1, 1, 1, 0, 0, '')", values: [now] },
    { text: "INSERT INTO running VALUES (1, 0, '')", values: [] },
  ])
  if (error !== undefined && !THERE.has(error.code)) throw refusedBy(error)
}
