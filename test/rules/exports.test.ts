// Whoever has `openEngine` or `connect` needs no other package for what they throw, take and answer.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as core from '@millrace/core'
import * as engine from '@millrace/engine'
import * as remote from '@millrace/remote'
import { describe, expect, test } from 'vitest'
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

/** What a root lists of another package: names of values, and of types. */
function listed(root: string, from: string): string[] {
  const text = readFileSync(join(ROOT, `packages/${root}/src/index.ts`), 'utf8')
  const lists = [...text.matchAll(/^export (?:type )?\{([^}]*)\} from '([^']+)'/gm)].filter(([, , source]) => source === from)
  return lists.flatMap(([, list = '']) => [...list.matchAll(/(\w+)\s*(?:,|$)/g)].map(([, name]) => name as string))
}

/** Of `openEngine` alone. */
const NOT_REMOTE = new Set(['OpenOptions'])

describe.each(['@millrace/core', '@millrace/worker', '@millrace/client'])('of %s', (from) => {
  test('@millrace/remote lists what @millrace/engine lists', () => {
    const wanted = listed('engine', from).filter((name) => !NOT_REMOTE.has(name))
    expect(wanted.length).toBeGreaterThan(0)
    expect(listed('remote', from)).toEqual(expect.arrayContaining(wanted))
  })
})
