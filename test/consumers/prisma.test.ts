// apps/examples/prisma in a folder of its own, with the packed packages and the real Prisma: on SQLite and on Postgres.
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { findBinaries } from '../postgres/binaries.ts'
import { startServer } from '../postgres/server.ts'
import { isRequired } from '../required.ts'
import { temporaryFolder } from '../temporary.ts'
import { install, pack, tarballsOf } from './pack.ts'
import { run } from './run.ts'

const EXAMPLE = fileURLToPath(new URL('../../apps/examples/prisma', import.meta.url))
/** Generating needs no engine of Prisma's, and yet the command line downloads one, unless this names a file that is there. */
const GENERATING = { PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' }

let folder: string

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'millrace-prisma-')))
  cpSync(EXAMPLE, folder, { recursive: true })
  const { dependencies, devDependencies, overrides } = JSON.parse(readFileSync(join(EXAMPLE, 'package.json'), 'utf8'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module', overrides }))
  await pack(folder)
  const others = Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) => !name.startsWith('@millrace/'))
  await install(folder, [
    '--ignore-scripts',
    ...others.map(([name, range]) => `${name}@${range}`),
    ...tarballsOf(folder, 'engine', 'outbox', 'postgres'),
  ])
  for (const schema of ['sqlite', 'postgres']) {
    const prisma = join(folder, 'node_modules/.bin/prisma')
    const generated = await run(prisma, ['generate', '--schema', `${schema}.prisma`], folder, { env: GENERATING })
    expect(generated.code, generated.stdout + generated.stderr).toBe(0)
  }
}, 600_000)

afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))

/** The lines in an order of their own: the receipts come when they come. */
const LINES = [
  '2 orders',
  'not saved: the card was refused',
  expect.stringMatching(/^receipt for order \d: 100$/),
  expect.stringMatching(/^receipt for order \d: 300$/),
]

test('SQLite: an outbox on the connection of Prisma', async () => {
  const { code, stdout, stderr } = await run(process.execPath, ['shop.ts', temporaryFolder()], folder)
  expect({ code, stderr, lines: stdout.trim().split('\n').toSorted() }).toEqual({ code: 0, stderr: '', lines: LINES })
})

test('Postgres: a statement in a transaction of Prisma', async ({ skip }) => {
  const binaries = findBinaries()
  if ('missing' in binaries) {
    if (isRequired('TEST_POSTGRES')) throw new Error(binaries.missing)
    return skip(`no Postgres: ${binaries.missing}`)
  }
  const server = await startServer(binaries, true)
  onTestFinished(() => server.stop())
  const { code, stdout, stderr } = await run(process.execPath, ['postgres.ts'], folder, { env: { DATABASE_URL: server.url } })
  expect({ code, stderr, lines: stdout.trim().split('\n').toSorted() }).toEqual({ code: 0, stderr: '', lines: LINES })
})
