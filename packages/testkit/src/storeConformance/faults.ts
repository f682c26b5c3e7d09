/** Tests that a turn is written whole or not at all, and that what is written is there when the store is opened again. Part of the suite. */
import { COMPLETED, WAITING } from '@millrace/core'
import { DIRTY_DELETE, type Effects, type Job, type JobRow, StoreFailure } from '@millrace/core/kernel'
import { describe, expect, test } from 'vitest'
import { imageOf } from './image.ts'
import { standBy } from './standBy.ts'
import type { StoreTurns } from './storeTurns.ts'
import type { StoreUnderTest } from './underTest.ts'

/** A turn that a store must refuse, because a row is not what the tables think. */
type Breakage = readonly [what: string, spoil: (turns: StoreTurns, effects: Effects) => void]

const missing = (turns: StoreTurns): Job => {
  const job = turns.tables.fromRow(turns.rows().at(-1) as JobRow)
  return Object.assign(job, { seq: 99_999, data: '"d"' })
}

const BREAKAGES: readonly Breakage[] = [
  ['a change of a job that is not there', (turns, effects) => effects.touch(missing(turns))],
  ['the removal of a job that is not there', (turns, effects) => effects.touch(missing(turns), DIRTY_DELETE)],
  [
    'a unique key that another job holds',
    (turns, effects) => effects.uniqueHeld.push({ name: 'wait', key: 'by', seq: turns.tables.nextSeq }),
  ],
  [
    'a unique key that is given back by a job that does not hold it',
    (_turns, effects) => effects.uniqueFreed.push({ name: 'wait', key: 'by', seq: 99_999 }),
  ],
  ['a pruned job that is not there', (turns, effects) => effects.pruned.push({ seq: 99_999, lane: turns.lane('a'), extras: undefined })],
  [
    'an outcome for a job that waits for no other',
    (_turns, effects) => effects.flows.reported.push({ parent: 99_998, child: 99_999, state: COMPLETED }),
  ],
  ["the removal of the turn's own events", (turns, effects) => Object.assign(effects, { forgetEventsBefore: turns.tables.nextEvent })],
  ['a session that is there no more', (_turns, effects) => effects.presence.push({ id: 99_999, presence: 'gone' })],
]

export function faultsConformance(under: () => StoreTurns, store: () => StoreUnderTest): void {
  describe('a turn that is refused leaves nothing, and the next is written whole', () => {
    test.each(BREAKAGES)('%s', (_what, spoil) => {
      const turns = under()
      standBy(turns)
      turns.enqueue('a')
      const { known, now } = turns
      const before = turns.image()
      turns.addEffects = (effects) => {
        effects.paused = true
        effects.exports.push({ name: 'e', cursor: 3 })
        effects.sourceOffsets.push({ source: 's', offset: 3 })
        spoil(turns, effects)
      }
      turns.pass(1)
      const failing = () =>
        turns.turn(
          { op: 'enqueue', jobs: [{ name: 'new', data: '"d"', tags: ['t'], idempotencyKey: 'k', queue: 'new' }] },
          { op: 'cancelMany', filter: { name: 'a' }, limit: 9, dryRun: false },
          { op: 'configure', queue: 'by', changes: { maxLength: 5 } },
        )
      expect(failing).toThrow(StoreFailure)
      turns.now = now
      expect(imageOf(turns.store, known)).toEqual(before)
      turns.reload('bystander')
      const { seq } = turns.enqueue('new')
      expect(turns.row({ seq })).toMatchObject({ state: WAITING })
    })

    test('a payload that has left memory', () => {
      const turns = under()
      standBy(turns)
      const before = turns.image()
      turns.addEffects = (effects) => {
        for (const job of effects.jobs) job.data = undefined
      }
      expect(() => turns.turn({ op: 'enqueue', jobs: [{ name: 'a', data: '"d"' }] })).toThrow(/left memory/)
      turns.reload('bystander')
      expect(turns.image()).toEqual(before)
    })
  })

  test('a store that is closed and opened again has all that was written', async ({ skip }) => {
    const turns = under()
    const { openAgain } = store()
    if (openAgain === undefined) return skip('what this store has ends with it')
    full(turns)
    const before = turns.image()
    turns.store.reopen()
    expect(turns.image()).toEqual(before)
    turns.store.close()
    const { known } = turns
    turns.store = await openAgain()
    expect(imageOf(turns.store, known)).toEqual(before)
    turns.reload()
    const { seq } = turns.enqueue('a')
    expect(seq).toBe(known.lastSeq + 1)
  })
}

/** Writes something of everything. */
function full(turns: StoreTurns): void {
  standBy(turns)
  turns.configure('default', { perKeyLimit: 1, rateLimit: { limit: 2, period: 900, burst: 9 } })
  turns.attach('w', ['a'])
  turns.enqueueAll(...[1, 2, 3].map(() => ({ name: 'a', concurrencyKey: 'k', data: new Uint8Array([1]) })))
  const [first] = turns.rows().filter(({ laneId }) => laneId === turns.lane('a').id)
  const { seq } = first as JobRow
  turns.run({ op: 'checkpoint', seq, run: 1, value: '"c"' }, { op: 'log', seq, run: 1, lines: [{ at: 1, level: 'info', message: 'm' }] })
  turns.fail({ seq }, { retry: 50 })
  turns.flow([{}, { parents: [0] }, { parents: [0, 1], onFailure: 'continue' }])
  const spec = { every: 1_000, jitter: 0, overlap: 'queue' as const, catchUp: 'latest' as const }
  turns.run({ op: 'upsertSchedule', id: 's', spec, job: { name: 'a', data: '"s"' }, runImmediately: true })
  turns.run({ op: 'forward', source: 'app', number: 7, first: 1, entries: [{ at: 5, jobs: [{ name: 'b', data: null }] }] })
  turns.run({ op: 'export', name: 'e', limit: 1 }, { op: 'pause', queue: 'default', paused: true, key: 'k' })
  turns.delete(turns.enqueue('b', { idempotencyKey: 'i', queue: 'gone' }))
  turns.run({ op: 'deleteQueue', queue: 'gone' })
}
