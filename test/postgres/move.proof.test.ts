// Moving a store between a file and a schema: all that is in it, whatever interrupts the move.
import { linkSync } from 'node:fs'
import { join } from 'node:path'
import type { MovedTable, MoveSource, MoveTarget } from '@millrace/core/kernel'
import { defineJob, moveStore, openEngine } from '@millrace/engine'
import * as inSchema from '@millrace/postgres'
import * as inFile from '@millrace/sqlite'
import fc from 'fast-check'
import pg from 'pg'
import { beforeEach, describe, expect } from 'vitest'
import { MemoryStore } from '../../packages/core/src/testing/memoryStore.ts'
import { copyStore } from '../../packages/engine/src/move/copy.ts'
import type { Image } from '../../packages/testkit/src/storeConformance/image.ts'
import { ERROR, StoreTurns } from '../../packages/testkit/src/storeConformance/storeTurns.ts'
import { runs } from '../../packages/testkit/src/testing/runs.ts'
import { storeAgreement } from '../../packages/testkit/src/testing/storeAgreement.ts'
import { startProgram } from '../program.ts'
import { temporaryFolder } from '../temporary.ts'
import { durableServer, newSchema, storeOptions, type TestSchema, test } from './test.ts'

const MOVER = new URL('./programs/mover.ts', import.meta.url)
const TABLES: readonly MovedTable[] = inFile.movedTables()

/** A place for a store, of either kind. */
interface Place {
  readonly name: string
  openStore(): ReturnType<typeof inSchema.openStore> | ReturnType<typeof inFile.openStore>
  openSource(): MoveSource
  openTarget(): MoveTarget
}

let count = 0

function newFile(): Place {
  const file = join(temporaryFolder(), `${++count}.db`)
  const { random, now } = storeOptions({ url: '', schema: '' })
  const options = { file, durability: 'normal' as const, random, now, host: 'h', pid: process.pid, ballastBytes: 0 }
  return {
    name: file,
    openStore: () => inFile.openStore(options),
    openSource: () => inFile.openMoveSource(options),
    openTarget: () => inFile.openMoveTarget(options),
  }
}

function placeInSchema(schema: ReturnType<typeof newSchema>): Place {
  const options = storeOptions(schema)
  return {
    name: `schema ${schema.schema}`,
    openStore: () => inSchema.openStore(options),
    openSource: () => inSchema.openMoveSource(options),
    openTarget: () => inSchema.openMoveTarget(options),
  }
}

/** Moves, and stops behind so many pages. Returns true if that was the end. */
function move(from: Place, to: Place, pages = Number.POSITIVE_INFINITY): boolean {
  const [source, target] = [from.openSource(), to.openTarget()]
  try {
    const copying = copyStore(source, target, { tables: TABLES, from: from.name, to: to.name })
    for (let page = 0; page < pages; page++) if (copying.next().done) return true
    return false
  } finally {
    target.close()
    source.close()
  }
}

/** Fills a store with some of everything, and returns all that it says. */
function fill(place: Place): { readonly turns: StoreTurns; readonly image: Image } {
  const turns = new StoreTurns(place.openStore())
  turns.attach('w1', ['a', 'b'])
  turns.call<'configure'>({ op: 'configure', queue: 'q', changes: { perKeyLimit: 1, rateLimit: { limit: 2, period: 90, burst: 2 } } })
  turns.call<'upsertSchedule'>({
    ...{ op: 'upsertSchedule', id: 's\0/1', runImmediately: false, job: { name: 'a', data: new Uint8Array([0, 255]) } },
    spec: { every: 1_000, jitter: 0, catchUp: 'latest', overlap: 'skip' },
  })
  const [failing, done] = turns.enqueueAll(
    { name: 'a', data: '"x"', tags: ['t', 'u'], maxAttempts: 1 },
    { name: 'b', data: new Uint8Array([1, 0]), idempotencyKey: 'k' },
    { name: 'b', queue: 'q', concurrencyKey: 'c', unique: { key: 'é\0', onConflict: 'skip' } },
    { name: 'b', queue: 'q', concurrencyKey: 'c', delay: 500 },
    ...Array.from({ length: 40 }, (_, index) => ({ name: 'later', data: `${index}`, priority: index % 3 })),
  )
  turns.flow([{ job: { name: 'later' } }, { parents: [0] }, { parents: [0, 1] }])
  turns.call<'log'>({ op: 'log', ...failing, run: 1, lines: [{ at: 1, level: 'info', message: 'm', fields: '{"f":1}' }] })
  const id = turns.keyOf(failing)
  turns.run(
    { op: 'step', ...failing, run: 1, number: 1, asked: 1, name: 's', kind: 'step', startedAt: 1, value: new Uint8Array([0]) },
    { op: 'send', id, name: 'm', value: new Uint8Array([0, 255]), by: 'ops' },
    { op: 'send', id, name: 'é', value: '"text"' },
  )
  turns.run({ op: 'fail', ...failing, run: 1, error: ERROR }, { op: 'complete', ...done, run: 1, output: '"o"' })
  const image = turns.image()
  turns.store.close()
  return { turns, image }
}

/** Opens the store, and expects that it says the same as before. */
function expectSame({ turns, image }: ReturnType<typeof fill>, place: Place): void {
  turns.store = place.openStore()
  expect(turns.image()).toEqual(image)
  turns.audit()
  turns.store.close()
}

const DIRECTIONS = [
  { name: 'from a file to a schema', from: newFile, to: () => placeInSchema(next()) },
  { name: 'from a schema to a file', from: () => placeInSchema(next()), to: newFile },
]

let next: () => ReturnType<typeof newSchema>

beforeEach(({ skip }) => {
  next = () => newSchema({ skip })
})

storeAgreement(
  'memory, and a store that moves between files and schemas',
  () => {
    let at: Place = newFile()
    let store = at.openStore()
    const isFile = () => at.name.endsWith('.db')
    return {
      stores: [new MemoryStore(store.node), store],
      move: () => {
        store.close()
        const to = isFile() ? placeInSchema(next()) : newFile()
        move(at, to)
        at = to
        store = at.openStore()
        return store
      },
      close: () => store.close(),
    }
  },
  5,
)

describe.each(DIRECTIONS)('$name', ({ from, to }) => {
  test('whatever page it is interrupted behind, the next move continues, and all is there', () => {
    const pages = fc.integer({ min: 1, max: 80 })
    fc.assert(
      fc.property(pages, (behind) => {
        const [source, target] = [from(), to()]
        const filled = fill(source)
        if (!move(source, target, behind)) {
          expect(() => target.openStore()).toThrow(expect.objectContaining({ code: 'STORE_MOVING' }))
          expect(move(source, target)).toBe(true)
        }
        expect(() => source.openStore()).toThrow(expect.objectContaining({ code: 'STORE_MOVED', movedTo: target.name }))
        expectSame(filled, target)
      }),
      { numRuns: runs(6), endOnFailure: true },
    )
  })

  test('if it dies between its last two steps, nobody can open either store until the move is repeated', () => {
    const [source, target] = [from(), to()]
    const filled = fill(source)
    const ends = [source.openSource(), target.openTarget()] as const
    const dying = Object.create(ends[1], {
      complete: {
        value: () => {
          throw new Error('killed')
        },
      },
    }) as MoveTarget
    expect(() => [...copyStore(ends[0], dying, { tables: TABLES, from: source.name, to: target.name })]).toThrow('killed')
    for (const end of ends) end.close()
    expect(() => source.openStore()).toThrow(expect.objectContaining({ code: 'STORE_MOVED' }))
    expect(() => target.openStore()).toThrow(expect.objectContaining({ code: 'STORE_MOVING' }))
    // It is known by its numbers, however it is spelt.
    move({ ...source, name: 'spelt otherwise' }, { ...target, name: 'as well' })
    expectSame(filled, target)
  })

  test('a source whose target was deleted in the last step is moved again, to a target of that name alone', () => {
    const [source, target, other] = [from(), to(), to()]
    const filled = fill(source)
    const end = source.openSource()
    end.leave(target.name)
    end.close()
    expect(() => move(source, other)).toThrow(expect.objectContaining({ code: 'STORE_MOVED' }))
    move(source, target)
    expectSame(filled, target)
    expect(() => move(source, target)).toThrow(expect.objectContaining({ code: 'STORE_MOVED' }))
  })

  test('a page has at most so many rows, about so many bytes, and at least one row', () => {
    const source = from()
    fill(source)
    const table = TABLES.find(({ name }) => name === 'job') as MovedTable
    const end = source.openSource()
    const lengths = (bound: { readonly rows: number; readonly bytes: number }) => end.page(table, undefined, bound).length
    expect(lengths({ rows: 7, bytes: 1e9 })).toBe(7)
    expect(lengths({ rows: 100, bytes: 1e9 })).toBe(47)
    expect(lengths({ rows: 100, bytes: 1 })).toBe(1)
    expect(lengths({ rows: 100, bytes: 500 })).toBeGreaterThan(1)
    expect(lengths({ rows: 100, bytes: 500 })).toBeLessThan(40)
    end.close()
  })

  test('a source that was used meanwhile, another source, and a target that holds something are refused', () => {
    const [source, target, other] = [from(), to(), to()]
    const filled = fill(source)
    move(source, target, 5)
    expectSame(filled, source)
    const another = fill(other).turns
    another.store = other.openStore()
    another.reload()
    another.enqueue('b')
    another.store.close()
    for (const [one, goal] of [
      [other, target],
      [source, other],
    ] as const)
      expect(() => move(one, goal)).toThrow(expect.objectContaining({ code: 'MOVE_REFUSED' }))
    filled.turns.store = source.openStore()
    filled.turns.reload()
    filled.turns.enqueue('b')
    filled.turns.store.close()
    expect(() => move(source, target)).toThrow(expect.objectContaining({ code: 'MOVE_REFUSED' }))
  })

  test('a row that differs in the end is found, and the source stays as it was', () => {
    const [source, target] = [from(), to()]
    const filled = fill(source)
    const ends = [source.openSource(), target.openTarget()] as const
    const page: MoveTarget['page'] = (table, after, limit) =>
      ends[1].page(table, after, limit).map((row) => (table.name === 'log' ? row.map((cell) => (cell === 'm' ? 'n' : cell)) : row))
    const other = Object.create(ends[1], { page: { value: page } }) as MoveTarget
    expect(() => [...copyStore(ends[0], other, { tables: TABLES, from: source.name, to: target.name })]).toThrow(/table log/)
    for (const end of ends) end.close()
    expectSame(filled, source)
  })
})

async function query({ url, schema }: TestSchema, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`SET search_path TO "${schema}"`)
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

test('a mover that was overtaken writes nothing more', async ({ postgres }) => {
  const [source, target] = [newFile(), placeInSchema(postgres)]
  const filled = fill(source)
  move(source, target, 3)
  const file = source.openSource()
  const first = target.openTarget()
  const table = TABLES.find(({ name }) => name === 'queue') as MovedTable
  first.begin(source.name, file.numbers())
  await query(postgres, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'millrace ${postgres.schema}'`)
  const second = target.openTarget()
  second.begin(source.name, file.numbers())
  // It has a connection again, and the lock is not its own.
  first.numbers()
  expect(() => first.write(table, [[99, 'late']], { table: 'queue', key: [99] })).toThrow('the place of the move')
  for (const end of [file, first, second]) end.close()
  expect(move(source, target)).toBe(true)
  expectSame(filled, target)
})

test('jobs in the inbox and active jobs keep a schema from moving; drained, they wait in the file', async ({ postgres: { schema } }) => {
  const postgres = { schema, url: await durableServer() }
  const file = join(temporaryFolder(), 'jobs.db')
  const options = { postgres: postgres.url, schema: postgres.schema, logger: false } as const
  const engine = await openEngine(options)
  const bystander = await engine.enqueue('other', 1)
  await engine.stop()
  const entry = await query(postgres, `SELECT enqueue('a', '"by SQL"')`)
  const stores = { from: { postgres: postgres.url, schema: postgres.schema }, to: { file } }
  await expect(moveStore(stores)).rejects.toMatchObject({ code: 'MOVE_REFUSED', message: expect.stringContaining('--drain') })
  await expect(query(postgres, `SELECT enqueue('a')`)).rejects.toThrow('is moving')

  const phases = new Set<string>()
  const { tables } = await moveStore({ ...stores, drain: true, onProgress: ({ phase }) => phases.add(phase) })
  expect([...phases]).toEqual(['drain', 'copy', 'check'])
  expect(tables.find(({ table }) => table === 'job')).toMatchObject({ rows: 2, checksum: expect.stringMatching(/^[0-9a-f]{32}$/) })
  await expect(query(postgres, `SELECT enqueue('a')`)).rejects.toThrow('has moved')
  await expect(openEngine(options)).rejects.toMatchObject({ code: 'STORE_MOVED', movedTo: file })

  await using there = await openEngine({ file })
  const handled = Promise.withResolvers<unknown>()
  there.work([defineJob({ name: 'a' }).handler(({ data }) => handled.resolve(data))])
  expect(await handled.promise).toBe('by SQL')
  expect(await there.get(entry[0]?.['enqueue'] as string)).toMatchObject({ name: 'a' })
  expect(await there.get(bystander.id)).toMatchObject({ state: 'waiting', data: 1 })
})

test('entries that can become no job keep a schema from moving, and are named', async ({ postgres: { schema } }) => {
  const postgres = { schema, url: await durableServer() }
  const options = { postgres: postgres.url, schema: postgres.schema, logger: false } as const
  const engine = await openEngine(options)
  await engine.queues.configure('full', { maxLength: 1 })
  await engine.enqueue('a', 1, { queue: 'full' })
  await engine.stop()
  await query(postgres, `SELECT enqueue('a', '2', '{"queue": "full"}')`)
  const stores = { from: { postgres: postgres.url, schema: postgres.schema }, to: { file: join(temporaryFolder(), 'jobs.db') } }
  await expect(moveStore({ ...stores, drain: true })).rejects.toMatchObject({
    code: 'MOVE_REFUSED',
    message: expect.stringContaining('1 entries in its inbox that can become no jobs'),
  })
})

test('a move that was given up leaves the source as it was: an engine opens it, and its inbox', async ({ postgres: { schema } }) => {
  const postgres = { schema, url: await durableServer() }
  const options = { postgres: postgres.url, schema: postgres.schema, logger: false } as const
  await (await openEngine(options)).stop()
  const stopped = AbortSignal.abort(new Error('enough'))
  const stores = { from: { postgres: postgres.url, schema: postgres.schema }, to: { file: join(temporaryFolder(), 'jobs.db') } }
  await expect(moveStore({ ...stores, signal: stopped })).rejects.toThrow('enough')
  await using engine = await openEngine(options)
  await query(postgres, `SELECT enqueue('a')`)
  await expect.poll(async () => (await engine.stats()).states.waiting).toBe(1)
})

test('killed at any time, it is done in the end', { timeout: 120_000 }, async ({ postgres: { schema } }) => {
  const postgres = { schema, url: await durableServer() }
  const file = join(temporaryFolder(), 'jobs.db')
  const engine = await openEngine({ file })
  const jobs = await engine.enqueueMany(Array.from({ length: 5_000 }, (_, index) => ({ job: 'a', data: index })))
  await engine.stop()
  const [here, there] = [JSON.stringify({ file }), JSON.stringify({ postgres: postgres.url, schema: postgres.schema })]
  for (const pages of [2, 2, 2, 4]) {
    expect(await startProgram(MOVER, [here, there, `${pages}`]).ended).toMatchObject({ signal: 'SIGKILL', stderr: '' })
  }
  const last = startProgram(MOVER, [here, there, '-1'])
  expect(await last.ended).toMatchObject({ code: 0 })
  expect(last.lines.at(-1)).toBe(`moved ${TABLES.length}`)
  await using moved = await openEngine({ postgres: postgres.url, schema: postgres.schema, logger: false })
  expect((await moved.stats()).states.waiting).toBe(5_000)
  expect(await moved.get(jobs.at(-1)?.id as string)).toMatchObject({ data: 4_999 })
})

test('a file that is not safe is refused, unless that is allowed', async () => {
  const [file, other] = ['jobs.db', 'other.db'].map((name) => join(temporaryFolder(), name)) as [string, string]
  const engine = await openEngine({ file })
  const { id } = await engine.enqueue('a', 1)
  await engine.stop()
  linkSync(file, `${file}-link`)
  await expect(moveStore({ from: { file }, to: { file: other } })).rejects.toMatchObject({ code: 'UNSAFE_FILESYSTEM' })
  await moveStore({ from: { file, unsafeFilesystem: 'allow' }, to: { file: other } })
  await using moved = await openEngine({ file: other })
  expect(await moved.get(id)).toMatchObject({ data: 1 })
})

test.for([
  [undefined, /moveStore/],
  [{ from: { file: 'a.db' } }, /to must be/],
  [{ from: { file: ':memory:' }, to: { file: 'b.db' } }, /on disk/],
  [{ from: { file: 'a.db' }, to: { postgres: 'mysql://secret' } }, /^(?!.*secret).*to\.postgres/],
  [{ from: { file: 'a.db', schema: 'x' }, to: { file: 'b.db' } }, /schema/],
  [{ from: { file: 'a.db', unsafeFilesystem: 'maybe' }, to: { file: 'b.db' } }, /from\.unsafeFilesystem must be 'refuse' or 'allow'/],
  [{ from: { file: 'a.db' }, to: { file: 'b.db' }, onProgress: 1 }, /onProgress/],
] as const)('wrong options are named: %j', async ([options, message]) => {
  await expect(moveStore(options as never)).rejects.toThrow(message)
})
