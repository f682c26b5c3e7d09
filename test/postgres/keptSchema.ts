/**
 * A schema that the tests of a worker use one after the other, each as if it were new. To create one takes 0.3 s of processor time, and to
 * empty one takes some milliseconds, because only its rows change. `keptSchema.test.ts` compares an emptied one with a new one.
 */
import { openStore } from '@millrace/postgres'
import type { TestContext } from 'vitest'
import type { StoreBridge } from '../../packages/postgres/src/bridge/bridge.ts'
import { ownerSettings, setUpOf } from '../../packages/postgres/src/settings.ts'
import { keptBridge } from './keptBridge.ts'
import { newSchema, storeOptions, type TestSchema } from './test.ts'

const TABLES = "SELECT relname::text FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r' ORDER BY relname"
const SEQUENCES = "SELECT relname::text FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'S' ORDER BY relname"

let kept: TestSchema | undefined

// The server may have yet to see that a store has closed, above all behind a proxy: until then it holds the owner's lock.
const LEAVE = 'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = $1 AND pid <> pg_backend_pid()'

/** Returns a schema with all its tables, as a new one has them. Whatever a former test of this worker opened there must be closed. */
export function keptSchema(context: Pick<TestContext, 'skip'>): TestSchema {
  kept ??= prepared(newSchema(context))
  const { schema } = kept
  onLine(kept, (all) => {
    all(LEAVE, `millrace ${schema}`)
    all(`SELECT ${emptierOf({ schema })}()`)
  })
  return kept
}

/** Returns the rows of all tables, and where the sequences stand. */
export function contentsOf(schema: TestSchema): Readonly<Record<string, unknown>> {
  return onLine(schema, (all) => {
    const tables = all(TABLES, schema.schema).map(([table]) => [table, all(`SELECT * FROM ${table} ORDER BY ${table}::text`)])
    const sequences = all(SEQUENCES, schema.schema).map(([name]) => [name, all(`SELECT last_value, is_called FROM ${name}`)])
    return Object.fromEntries([...tables, ...sequences])
  })
}

/** Opens the schema once, so that it is there, and creates the function that makes it as new. */
function prepared(schema: TestSchema): TestSchema {
  openStore(storeOptions(schema), undefined, keptBridge).close()
  onLine(schema, (all) => {
    const statements: string[] = []
    for (const [table] of all(TABLES, schema.schema)) {
      const name = `${schema.schema}.${table}`
      statements.push(`DELETE FROM ${name}`)
      // The first turn is that of the schema, and the others are of those who opened it.
      const [[rows] = []] = all(`SELECT json_agg(each)::text FROM ${table} AS each ${table === 'journal' ? 'WHERE turn = 0' : ''}`)
      if (typeof rows === 'string')
        statements.push(`INSERT INTO ${name} SELECT * FROM json_populate_recordset(NULL::${name}, '${rows.replaceAll("'", "''")}')`)
    }
    for (const [name] of all(SEQUENCES, schema.schema)) statements.push(`PERFORM setval('${schema.schema}.${name}', 1, false)`)
    all(
      `CREATE FUNCTION ${emptierOf(schema)}() RETURNS void LANGUAGE plpgsql AS $emptier$ BEGIN ${statements.map((text) => `${text};`).join('\n')} END $emptier$`,
    )
  })
  return schema
}

const emptierOf = ({ schema }: Pick<TestSchema, 'schema'>) => `public.empty_${schema}`

type Ask = (text: string, ...values: readonly string[]) => readonly unknown[][]

/** Asks over the bridge of a store that has closed. */
function onLine<Value>({ url, schema }: TestSchema, use: (all: Ask) => Value): Value {
  const bridge: StoreBridge = keptBridge({ url, setUp: setUpOf(ownerSettings(schema, 'normal')) })
  const refused = bridge.connect()
  if (refused !== undefined) throw new Error(refused.message)
  try {
    return use((text, ...values) => {
      const { rows, error } = bridge.run([{ text, values }])
      if (error !== undefined) throw new Error(error.message)
      return rows[0] ?? []
    })
  } finally {
    bridge.close()
  }
}
