// Migrations of a store whose schema is older than the one that this program knows.
import { Command } from 'commander'
import { expect, test, vi } from 'vitest'
import type { Context } from '../context.ts'
import type { MigratedStore } from '../migrations.ts'
import { addMigrate } from './migrate.ts'

const world = vi.hoisted(() => ({ version: 7 }))

vi.mock('../migrations.ts', () => ({
  migratedStore: async (): Promise<MigratedStore> => ({
    name: 'jobs.db',
    field: 'file',
    oldest: 5,
    inspect: () => ({ schemaVersion: world.version, knownVersion: 9 }),
    up: async () => {
      world.version = 9
    },
    down: (to) => {
      world.version = to
    },
  }),
}))

/** Runs the command on a store of that schema. */
async function migrate(version: number, ...args: readonly string[]) {
  world.version = version
  const said: unknown[] = []
  const out = { answer: async (json: object, text: () => string) => void said.push(json, text()) }
  const root = new Command()
  addMigrate(root, { target: () => ({ kind: 'file', file: 'jobs.db' }), out } as unknown as Context)
  const error = await root.parseAsync(['migrate', ...args], { from: 'user' }).then(
    () => undefined,
    (thrown: Error) => thrown.message,
  )
  return { said, error, version: world.version }
}

test('an older store: --check says what is due and changes nothing, then it is brought up, once', async () => {
  expect(await migrate(7, '--check')).toEqual({
    said: [{ file: 'jobs.db', version: 7, known: 9, pending: true }, 'schema 7; millrace migrate brings it to 9'],
    error: 'jobs.db needs a migration: run millrace migrate',
    version: 7,
  })
  expect(await migrate(7)).toEqual({ said: [{ file: 'jobs.db', before: 7, after: 9 }, 'schema 7 → 9'], error: undefined, version: 9 })
  expect(await migrate(9, 'up')).toMatchObject({ said: [{ before: 9, after: 9 }, 'schema 9: nothing to do'], version: 9 })
  expect(await migrate(9, '--check')).toMatchObject({ said: [{ pending: false }, 'schema 9: nothing to do'], error: undefined })
})

test('down goes to a schema that the store has had, and can go back to', async () => {
  expect(await migrate(9, 'down', '--to', '6')).toMatchObject({ said: [{ before: 9, after: 6 }, 'schema 9 → 6'], version: 6 })
  for (const to of ['4', '8', '6.5'])
    expect(await migrate(7, 'down', '--to', to)).toEqual({
      said: [],
      error: `--to must be between 5 and 7, the schema of jobs.db, got ${to}`,
      version: 7,
    })
  expect(await migrate(10, 'down', '--to', '6')).toMatchObject({
    error: 'jobs.db has schema 10, and this version knows 9: use the newer version',
    version: 10,
  })
  expect((await migrate(7, 'down')).error).toBe('down requires --to, a schema')
  expect((await migrate(7, 'up', '--to', '9')).error).toBe('--to requires down: migrate up always ends at the schema of this version')
  expect((await migrate(7, 'down', '--check')).error).toMatch(/leave it out with down/)
})
