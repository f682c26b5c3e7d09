// Any order of commits, rollbacks, lost answers and restarts: the queue has what was committed, once, in its order.
import { Connectivity, type SourceLine } from '@millrace/client'
import { type CommandOf, ConnectionLostError, type Forwarded, type NewJob, parseId, StorageError } from '@millrace/core'
import { VirtualClock } from '@millrace/testkit'
import { quiet } from '@millrace/testkit/internal'
import Database from 'better-sqlite3'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../testkit/src/testing/runs.ts'
import { Outbox } from './outbox.ts'
import { outboxSchema } from './table.ts'

const TABLE = 'millrace_outbox'

/** Takes what is forwarded as the engine does, unless a fault is set for the next call. */
class FakeEngine {
  readonly queue: number[] = []
  readonly #marks = new Map<string, number>()
  fault: 'none' | 'before' | 'after' = 'none'

  async call({ source, first, entries }: CommandOf<'forward'>): Promise<Forwarded> {
    await quiet()
    const fault = this.fault
    this.fault = 'none'
    if (fault === 'before') throw new StorageError('nothing of it happened')
    let mark = this.#marks.get(source) ?? 0
    let refused: Forwarded['refused']
    for (const [index, { jobs }] of entries.entries()) {
      const place = first + index
      if (place <= mark) continue
      const number = Number(jobs[0]?.data)
      if (isRefused(number)) {
        refused = { place, refusal: { code: 'UNIQUE_CONFLICT', message: 'taken' } }
        break
      }
      this.queue.push(number)
      mark = place
    }
    this.#marks.set(source, mark)
    if (fault === 'after') throw new ConnectionLostError()
    return { mark, merged: [], ...(refused && { refused }) }
  }
}

const isRefused = (number: number) => number % 7 === 3

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('commit', 'rollback', 'part'), jobs: fc.integer({ min: 1, max: 5 }) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('begin', 'end', 'undo', 'faultBefore', 'faultAfter', 'restart', 'wait', 'tick'),
      jobs: fc.constant(2),
    }),
  },
)

test('whatever is committed is in the queue or refused, once, in its order; nothing else is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const connection = new Database(':memory:')
      connection.exec(outboxSchema())
      const clock = new VirtualClock()
      const engine = new FakeEngine()
      const line: SourceLine = {
        clock,
        logger: undefined,
        newJob: (job, data) => ({ name: String(job), data: String(data) }) satisfies NewJob,
        call: (command) => engine.call(command),
        ended: () => undefined,
        connectivity: new Connectivity(),
      }
      // Drawn in order, so that what is found is found again.
      let sources = 0
      const start = () => new Outbox(connection, line, TABLE, () => ({ uuid: `source-${++sources}`, number: sources }))
      let box = start()
      let next = 0
      let open: number[] = []
      const committed: number[] = []
      const ids = new Set<string>()
      const put = (jobs: number): number[] =>
        Array.from({ length: jobs }, () => {
          const { id } = box.enqueue(connection, 'a', next)
          expect(parseId(id)?.node).toBe(sources)
          ids.add(id)
          return next++
        })
      const end = (how: 'COMMIT' | 'ROLLBACK') => {
        if (!connection.inTransaction) return
        connection.exec(how)
        if (how === 'COMMIT') committed.push(...open)
        open = []
      }

      for (const { do: what, jobs } of steps) {
        if (what === 'begin' && !connection.inTransaction) {
          connection.exec('BEGIN')
          open = put(jobs)
        } else if (what === 'end') end('COMMIT')
        else if (what === 'undo') end('ROLLBACK')
        else if (what === 'faultBefore') engine.fault = 'before'
        else if (what === 'faultAfter') engine.fault = 'after'
        else if (what === 'wait') await clock.advance(50)
        else if (what === 'tick') await quiet()
        else if (what === 'restart') {
          end('ROLLBACK')
          await box.close()
          box = start()
        } else if (what === 'part' && connection.inTransaction) {
          connection.exec('SAVEPOINT part')
          put(jobs)
          connection.exec('ROLLBACK TO part')
          open.push(...put(1))
        } else if (connection.inTransaction) open.push(...put(jobs))
        else {
          connection.exec('BEGIN')
          const numbers = put(jobs)
          connection.exec(what === 'rollback' ? 'ROLLBACK' : 'COMMIT')
          if (what !== 'rollback') committed.push(...numbers)
        }
      }
      end('COMMIT')
      engine.fault = 'none'
      // Pauses behind faults, and looks at a transaction that was open.
      await clock.advance(1_000)
      await box.flush()

      expect(engine.queue).toEqual(committed.filter((number) => !isRefused(number)))
      expect(box.refused({ limit: 1_000 }).map(({ data }) => data)).toEqual(committed.filter(isRefused))
      expect(connection.prepare(`SELECT count(*) FROM ${TABLE} WHERE code IS NULL`).pluck().get()).toBe(0)
      expect(ids.size).toBe(next)
      await box.close()
      connection.close()
    }),
    { numRuns: runs(500) },
  )
})
