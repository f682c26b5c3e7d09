// Commands at a file that Millrace refuses leave nothing beside it; and one that looks at a file names nobody as its owner who is not.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { openEngine } from '@millrace/engine'
import { expect, test } from 'vitest'
import { ASKS, leavesOf } from '../../apps/millrace/src/cli/asks.ts'
import type { Context } from '../../apps/millrace/src/cli/context.ts'
import { EXAMPLES } from '../../apps/millrace/src/cli/examples.ts'
import { createProgram } from '../../apps/millrace/src/cli/program.ts'
import { SCHEMA_VERSION } from '../../packages/sqlite/src/index.ts'
import { HANDLERS, Place } from './millrace.ts'

function database(file: string, sql: string): void {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}

/** A database of a Millrace that is newer: what tells it is in its header and in one row. */
const NEWER = `PRAGMA application_id = 0x4d6c7263; CREATE TABLE meta (schema_version, min_reader);
  INSERT INTO meta VALUES (${SCHEMA_VERSION + 1}, ${SCHEMA_VERSION + 1})`

interface Wrong {
  readonly what: string
  readonly code: string
  readonly make: (file: string) => void
}

const REFUSED: readonly Wrong[] = [
  { what: 'a text', code: 'NOT_A_DATABASE', make: (file) => writeFileSync(file, 'not a database '.repeat(100)) },
  { what: 'a database of another program', code: 'NOT_A_DATABASE', make: (file) => database(file, 'CREATE TABLE users (id)') },
  {
    what: 'one in WAL mode',
    code: 'NOT_A_DATABASE',
    make: (file) => database(file, 'PRAGMA journal_mode = WAL; CREATE TABLE users (id)'),
  },
  { what: 'one of a newer version', code: 'SCHEMA_TOO_NEW', make: (file) => database(file, NEWER) },
  { what: 'a folder', code: 'NOT_WRITABLE', make: (file) => mkdirSync(file) },
  { what: 'a device', code: 'NOT_WRITABLE', make: (file) => symlinkSync('/dev/null', file) },
  // Whoever opens it waits for its other end.
  { what: 'a named pipe', code: 'NOT_WRITABLE', make: (file) => void execFileSync('mkfifo', [file]) },
  { what: 'a link to itself', code: 'NO_FILE', make: (file) => symlinkSync(file, file) },
  { what: 'an empty file', code: 'NO_FILE', make: (file) => writeFileSync(file, '') },
  // Root reads every file.
  ...(process.getuid?.() === 0
    ? []
    : [
        {
          what: 'a file that the user may not read',
          code: 'NOT_WRITABLE',
          make: (file: string) => {
            writeFileSync(file, 'secret')
            chmodSync(file, 0)
          },
        },
      ]),
]

/** Commands that open no file, or that run on, and why they have no row here. */
const OTHERS: Readonly<Record<string, string>> = {
  serve: 'waits for an owner, which may be of another version',
  open: 'asks the daemon over HTTP',
  mcp: 'opens the file with the first call of a tool',
  openapi: 'prints what is in the program',
  completion: 'prints what is in the program',
  'worker stop': 'stops processes by their records',
  'config show': 'reads the configuration',
  'demo start': 'has a file of its own',
}

/** Arguments in place of those of the example, if it needs something that is there. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  import: ['import', '-'],
  'worker start': ['worker', 'start', '--handlers', HANDLERS],
  migrate: ['migrate', '--check'],
  doctor: ['doctor'],
  export: ['export'],
  stats: ['stats'],
}

/** Commands that put something into a file that is missing or empty. */
const CREATES: ReadonlySet<string> = new Set([
  ...['enqueue', 'import', 'worker start', 'demo producer', 'demo worker', 'token create', 'webhooks add'],
  ...['queues set', 'queues pause', 'queues pause-all', 'config set', 'schedules set', 'schedules add'],
])

/** Commands that need only what is beside the file. Beside a file that has no control database, there is nothing to find. */
const BESIDE: ReadonlySet<string> = new Set(['audit', 'token list', 'token revoke'])

const COMMANDS = leavesOf(createProgram({ out: {} } as Context))
  .map(([path]) => path)
  .filter((path) => !(path in OTHERS))

function argumentsOf(path: string): readonly string[] {
  const words = EXAMPLES[path]?.[0]?.match(/'[^']*'|"[^"]*"|\S+/g)?.map((word) => word.replace(/^['"]|['"]$/g, '')) ?? []
  return [...(ARGUMENTS[path] ?? words.slice(1)), ...(path in ASKS ? ['--yes'] : [])]
}

// An engine would wait for 10 s for an owner that can open what it cannot: no command gets that far, and so none leaves anything.
test.each(REFUSED)('$what: each command says so, and leaves nothing beside it', { timeout: 120_000 }, async ({ what, code, make }) => {
  const place = new Place()
  make(place.file)
  const found: string[] = []
  const wanted: string[] = []
  for (const path of COMMANDS) {
    if (code === 'NO_FILE' && CREATES.has(path)) continue
    const { stderr } = await place.run(...argumentsOf(path))
    found.push(`${path}: ${/^millrace: [^\n]+ \((\w+)\)\n$/.exec(stderr)?.[1] ?? stderr}`)
    wanted.push(`${path}: ${code === 'NO_FILE' && BESIDE.has(path) ? 'NOT_FOUND' : code}`)
  }
  expect(found).toEqual(wanted)
  expect(readdirSync(place.folder)).toEqual(['jobs.db'])
  if (what === 'an empty file') expect(readFileSync(place.file)).toHaveLength(0)
})

test.each([['status'], ['stats'], ['top']])('%s at a file that nobody has open: it has no owner', async (command) => {
  const place = new Place()
  await place.ok('enqueue', 'mail')
  const owner = async () => {
    const answer = await place.okJson(command)
    return ((answer['stats'] ?? answer) as { readonly owner: unknown }).owner
  }
  expect(await owner()).toBeNull()
  const engine = await openEngine({ file: place.file, share: true })
  expect(await owner()).toMatchObject({ pid: process.pid })
  await engine.stop()
})

test('status says that no process has the file open', async () => {
  const place = new Place()
  await place.ok('enqueue', 'mail')
  expect(await place.ok('status')).toMatch(/^owner +none$[\s\S]*^warning: no process has the file open: no job starts until one does/m)
})
