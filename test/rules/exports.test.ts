// Whoever has `openEngine` or `connect` needs no other package for what they throw, take and answer.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as core from '@millrace/core'
import * as engine from '@millrace/engine'
import * as remote from '@millrace/remote'
import { expect, test } from 'vitest'
import { ROOT } from './sources.ts'

/** What a store tells the engine, which makes one of the others of it. */
const WITHIN = new Set(['StoreFailure'])

const errors = Object.entries(core)
  .filter(([name, value]) => typeof value === 'function' && value.prototype instanceof Error && !WITHIN.has(name))
  .map(([name]) => name)

test.each(Object.entries({ engine, remote }))(
  '@millrace/%s exports each error that an engine, a worker or a connection may raise',
  (_name, root) => {
    expect(errors.length).toBeGreaterThan(40)
    expect(Object.keys(root)).toEqual(expect.arrayContaining(errors))
  },
)

/** The names that a file exports, types included; `export *` is followed within the workspace. */
function exported(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8')
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].map(([, list = '']) => list)
  const own = lists.flatMap((list) => [...list.matchAll(/(\w+)\s*(?:,|$)/g)].map(([, name]) => name as string))
  const stars = [...text.matchAll(/^export (?:type )?\* from '([^']+)'/gm)].map(([, from]) => from)
  expect(stars.filter((from) => from !== '@millrace/client/public')).toEqual([])
  return stars.length === 0 ? own : [...own, ...exported('packages/client/src/public.ts')]
}

/** Opening and moving a store is not for those who connect to an engine. */
const NOT_REMOTE = new Set([
  'openEngine',
  'attach',
  'assertRuntime',
  'EngineOptions',
  'OpenOptions',
  'OpenPostgresOptions',
  'Role',
  'Transport',
  'AttachOptions',
  'moveStore',
  'MoveOptions',
  'MoveProgress',
  'Moved',
  'MovedRows',
  'StoreAddress',
])

test('@millrace/engine exports the names that its README lists, and no others', () => {
  const readme = readFileSync(join(ROOT, 'packages/engine/README.md'), 'utf8')
  const [, section = ''] = readme.split('## What it exports\n')
  const rows = section.split('\n').filter((line) => /^\| \w/.test(line))
  const listed = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name]) => name as string))
  expect(listed.toSorted()).toEqual(exported('packages/engine/src/index.ts').toSorted())
})

test('@millrace/remote exports the same, except what opens an engine', () => {
  const wanted = exported('packages/engine/src/index.ts').filter((name) => !NOT_REMOTE.has(name))
  expect(wanted.length).toBeGreaterThan(150)
  expect(exported('packages/remote/src/index.ts')).toEqual(expect.arrayContaining(wanted))
})

test.for(['engine', 'remote', 'testkit'])('@millrace/%s keeps what is internal out of its root', (folder) => {
  const internal = exported(`packages/${folder}/src/internal.ts`).filter((name) => name !== 'listen')
  expect(internal.filter((name) => exported(`packages/${folder}/src/index.ts`).includes(name))).toEqual([])
})
