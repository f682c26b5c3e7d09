import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../testkit/src/testing/runs.ts'
import type { Connection } from '../connection.ts'
import { LowWaterMark } from './lowWaterMark.ts'

/** A server of which the test knows everything: numbers of transactions and entries, and what is committed. */
class Server {
  opening = 1
  nextXid = 100
  lastEnded = 99
  nextId = 1
  readonly running = new Map<number, number[]>()
  readonly entries = new Set<number>()

  begin(): number {
    const xid = this.nextXid++
    this.running.set(xid, [])
    return xid
  }

  enqueue(xid: number): void {
    this.running.get(xid)?.push(this.nextId++)
  }

  end(xid: number, commits: boolean): void {
    if (commits) for (const id of this.running.get(xid) ?? []) this.entries.add(id)
    this.running.delete(xid)
    this.lastEnded = Math.max(this.lastEnded, xid)
  }

  pluck(sql: string, ...values: readonly number[]): number[] {
    if (sql.includes('inbox_id_seq')) return [this.nextId - 1]
    if (sql.includes('pg_current_xact_id')) {
      const own = this.begin()
      this.end(own, true)
      return [own]
    }
    // Numbers above the last one that has ended are not running, as far as a snapshot knows.
    if (sql.includes('xmin')) return [Math.min(this.lastEnded + 1, ...this.running.keys())]
    if (sql.includes('xmax')) return [this.lastEnded + 1]
    const [mark, id] = values as [number, number]
    const within = [...this.entries].filter((entry) => entry > mark && entry <= id)
    return [within.length === 0 ? id : Math.min(...within) - 1]
  }
}

type Step = 'begin' | 'enqueue' | 'commit' | 'rollback' | 'take' | 'look' | 'reconnect'
const step = fc.constantFrom<Step>(
  'begin',
  'begin',
  'enqueue',
  'enqueue',
  'enqueue',
  'commit',
  'commit',
  'rollback',
  'take',
  'take',
  'look',
  'look',
  'look',
  'reconnect',
)

test('no entry that is there, or may still be committed, ever lies at or below the mark', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(step, fc.nat()), { maxLength: 60 }), (steps) => {
      const server = new Server()
      const mark = new LowWaterMark(server as unknown as Connection)
      let risen = 0
      for (const [what, chance] of steps) {
        const running = [...server.running.keys()]
        const one = running[chance % Math.max(1, running.length)]
        if (what === 'begin') server.begin()
        else if (what === 'enqueue' && one !== undefined) server.enqueue(one)
        else if ((what === 'commit' || what === 'rollback') && one !== undefined) server.end(one, what === 'commit')
        else if (what === 'take') server.entries.delete([...server.entries][chance % Math.max(1, server.entries.size)] ?? 0)
        else if (what === 'reconnect') server.opening++
        else if (what === 'look') for (let read = 0; read < 200; read++) risen = mark.get()
        const open = [...server.entries, ...[...server.running.values()].flat()]
        for (const id of open) expect(id).toBeGreaterThan(risen)
      }
    }),
    { numRuns: runs(500) },
  )
})

test('it rises to the last entry once all are taken and nothing runs', () => {
  const server = new Server()
  const mark = new LowWaterMark(server as unknown as Connection)
  const look = () => {
    let found = 0
    for (let read = 0; read < 200; read++) found = mark.get()
    return found
  }
  const slow = server.begin()
  const quick = server.begin()
  server.enqueue(slow)
  server.enqueue(quick)
  server.end(quick, true)
  server.entries.clear()
  look()
  expect(look()).toBe(0)
  server.end(slow, true)
  expect(look()).toBe(0)
  server.entries.clear()
  look()
  expect(look()).toBe(2)
  server.opening++
  expect(mark.get()).toBe(0)
})
