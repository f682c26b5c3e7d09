import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { configuredTarget } from './configuredTarget.ts'

function folder(files: Readonly<Record<string, string>>): string {
  const path = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  return path
}

test.each<[string, Record<string, string>, NodeJS.ProcessEnv, object]>([
  ['no configuration', {}, {}, {}],
  ['a file', { 'millrace.config.toml': 'file = "data/jobs.db"' }, {}, { file: 'data/jobs.db' }],
  [
    'a schema of Postgres',
    { 'millrace.config.json': '{"postgres":"postgres://db/app","schema":"q"}' },
    {},
    { postgres: 'postgres://db/app', schema: 'q' },
  ],
  [
    'a local file above it',
    { 'millrace.config.toml': 'file = "a.db"', 'millrace.config.local.toml': 'file = "b.db"' },
    {},
    { file: 'b.db' },
  ],
  [
    'a section of the environment',
    { 'millrace.config.toml': 'file = "a.db"\n["$production"]\nfile = "p.db"' },
    { NODE_ENV: 'production' },
    { file: 'p.db' },
  ],
  ['another name', { 'other.toml': 'file = "o.db"' }, { MILLRACE_CONFIG: 'other.toml' }, { file: 'o.db' }],
  ['a database in memory, which no command finds', { 'millrace.config.toml': 'file = ":memory:"' }, {}, {}],
  ['settings that are wrong elsewhere', { 'millrace.config.toml': 'file = "a.db"\n[http]\nport = "x"' }, {}, { file: 'a.db' }],
  ['a variable that selects another', { 'millrace.config.toml': 'file = "a.db"' }, { MILLRACE_URL: 'unix:/x' }, {}],
])('%s', async (_what, files, env, found) => {
  expect(await configuredTarget({}, env, folder(files))).toEqual(found)
})

test('a flag selects another; what cannot be read is said', async () => {
  const place = folder({ 'millrace.config.toml': 'file = ' })
  expect(await configuredTarget({ file: 'b.db' }, {}, place)).toEqual({})
  await expect(configuredTarget({}, {}, place)).rejects.toMatchObject({ code: 'CONFIG' })
})
